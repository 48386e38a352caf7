"""The example files that ``evaluate --init`` writes: they run as they are, with an API key."""

from pathlib import Path

from selection.errors import Refused

FILE, GOLD = "crowdselect.yaml", "gold.csv"
MODELS = """\
# Choose the best models and prompts: crowdselect evaluate {name} --check, then without --check.
# All settings: docs/model-workers.md.
servers:
  openai:
    url: https://api.openai.com/v1   # any server that speaks OpenAI's protocol
    key_variable: OPENAI_API_KEY     # the environment variable with your API key
    concurrency: 16                  # calls at once
    # requests_per_minute: 500

# Gold questions: a CSV, JSONL, Parquet or Excel file in this folder.
data: {gold}
# Columns that are not recognised by their names:
# fields: {{prompt: question_text, answer: target, choices: options}}

# Every combination of the lists is a candidate. Prices come from a price list, unless you
# give price_in and price_out (per million tokens).
models:
  - server: openai
    model: [gpt-5-mini, gpt-5-nano]
    prompt:                          # or files: prompts/*.txt
      plain: You classify support tickets.
      careful: You classify support tickets. Read twice before you answer.
    temperature: auto                # the server's own; or a number, or a list
    reasoning_effort: minimal
    max_output_tokens: 256
"""
QUESTIONS = """\
question,text,choices,answer
t1,I was charged twice this month.,billing|login|shipping,billing
t2,My password reset e-mail never arrives.,billing|login|shipping,login
t3,The parcel was left at a wrong address.,billing|login|shipping,shipping
t4,Please send the invoice to our new office.,billing|login|shipping,billing
t5,The app asks for a code that I do not get.,billing|login|shipping,login
t6,When will order 1173 leave your warehouse?,billing|login|shipping,shipping
t7,The discount is missing from my receipt.,billing|login|shipping,billing
t8,I am locked out after three attempts.,billing|login|shipping,login
t9,Can I change the delivery date?,billing|login|shipping,shipping
t10,Why did the price of my plan rise?,billing|login|shipping,billing
t11,Signing in with Google shows an error.,billing|login|shipping,login
t12,The tracking number does not work.,billing|login|shipping,shipping
"""


def write_example(path: Path) -> list[str]:
    """Write the models, and gold questions beside them unless there are some; return what to do.

    Raises Refused if the file exists.
    """
    gold = path.with_name(GOLD)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(MODELS.format(name=path, gold=GOLD))
    except FileExistsError as error:
        raise Refused(f"{path} exists, and stays as it is: name another file.") from error
    written = f"{path} is written"
    if gold.exists():
        written += f"; {gold} was there, and stays"
    else:
        gold.write_text(QUESTIONS, encoding="utf-8")
        written += f", and twelve questions in {gold}: put yours in their place"
    steps = f"export OPENAI_API_KEY=…\ncrowdselect evaluate {path} --check\n"
    return [f"{written}.", f"{steps}crowdselect evaluate {path} --limit 1"]
