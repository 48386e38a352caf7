"""Selection inside other people's tools, a file for each; the tool is not a requirement of topk."""
