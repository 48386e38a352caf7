"""BibTeX entries of the algorithms' papers, by authors and year, as the algorithms cite them."""

import re
from urllib.parse import urlsplit

from django.conf import settings

from topk import __version__

_ENTRIES = """
@inproceedings{bubeck2013multiple,
  author = {S{\\'e}bastien Bubeck and Tengyao Wang and Nitin Viswanathan},
  title = {Multiple Identifications in Multi-Armed Bandits},
  booktitle = {Proceedings of the 30th International Conference on Machine Learning},
  year = {2013}
}
@inproceedings{chen2014combinatorial,
  author = {Shouyuan Chen and Tian Lin and Irwin King and Michael R. Lyu and Wei Chen},
  title = {Combinatorial Pure Exploration of Multi-Armed Bandits},
  booktitle = {Advances in Neural Information Processing Systems 27},
  year = {2014}
}
@inproceedings{chen2017adaptive,
  author = {Jiecao Chen and Xi Chen and Qin Zhang and Yuan Zhou},
  title = {Adaptive Multiple-Arm Identification},
  booktitle = {Proceedings of the 34th International Conference on Machine Learning},
  year = {2017}
}
@inproceedings{gabillon2011multi,
  author = {Victor Gabillon and Mohammad Ghavamzadeh and Alessandro Lazaric and
    S{\\'e}bastien Bubeck},
  title = {Multi-Bandit Best Arm Identification},
  booktitle = {Advances in Neural Information Processing Systems 24},
  year = {2011}
}
@inproceedings{gabillon2012best,
  author = {Victor Gabillon and Mohammad Ghavamzadeh and Alessandro Lazaric},
  title = {Best Arm Identification: A Unified Approach to Fixed Budget and Fixed Confidence},
  booktitle = {Advances in Neural Information Processing Systems 25},
  year = {2012}
}
@inproceedings{jamieson2014best,
  author = {Kevin Jamieson and Robert Nowak},
  title = {Best-Arm Identification Algorithms for Multi-Armed Bandits in the Fixed
    Confidence Setting},
  booktitle = {48th Annual Conference on Information Sciences and Systems},
  year = {2014}
}
@inproceedings{jamieson2014lil,
  author = {Kevin Jamieson and Matthew Malloy and Robert Nowak and S{\\'e}bastien Bubeck},
  title = {lil' {UCB}: An Optimal Exploration Algorithm for Multi-Armed Bandits},
  booktitle = {Proceedings of the 27th Conference on Learning Theory},
  year = {2014}
}
@misc{jiang2017practical,
  author = {Haotian Jiang and Jian Li and Mingda Qiao},
  title = {Practical Algorithms for Best-{K} Identification in Multi-Armed Bandits},
  howpublished = {arXiv:1705.06894},
  year = {2017}
}
@inproceedings{jun2016top,
  author = {Kwang-Sung Jun and Kevin Jamieson and Robert Nowak and Xiaojin Zhu},
  title = {Top Arm Identification in Multi-Armed Bandits with Batch Arm Pulls},
  booktitle = {Proceedings of the 19th International Conference on Artificial Intelligence
    and Statistics},
  year = {2016}
}
@inproceedings{kalyanakrishnan2010efficient,
  author = {Shivaram Kalyanakrishnan and Peter Stone},
  title = {Efficient Selection of Multiple Bandit Arms: Theory and Practice},
  booktitle = {Proceedings of the 27th International Conference on Machine Learning},
  year = {2010}
}
@inproceedings{kalyanakrishnan2012pac,
  author = {Shivaram Kalyanakrishnan and Ambuj Tewari and Peter Auer and Peter Stone},
  title = {{PAC} Subset Selection in Stochastic Multi-Armed Bandits},
  booktitle = {Proceedings of the 29th International Conference on Machine Learning},
  year = {2012}
}
@inproceedings{kaufmann2013information,
  author = {Emilie Kaufmann and Shivaram Kalyanakrishnan},
  title = {Information Complexity in Bandit Subset Selection},
  booktitle = {Proceedings of the 26th Conference on Learning Theory},
  year = {2013}
}
@inproceedings{simchowitz2017simulator,
  author = {Max Simchowitz and Kevin Jamieson and Benjamin Recht},
  title = {The Simulator: Understanding Adaptive Sampling in the Moderate-Confidence Regime},
  booktitle = {Proceedings of the 30th Conference on Learning Theory},
  year = {2017}
}
@inproceedings{zhou2014optimal,
  author = {Yuan Zhou and Xi Chen and Jian Li},
  title = {Optimal {PAC} Multiple Arm Identification with Applications to Crowdsourcing},
  booktitle = {Proceedings of the 31st International Conference on Machine Learning},
  year = {2014}
}
"""


def _cite(entry: str) -> str:
    """Return the authors' last names and the year, as the algorithms cite the entry."""
    authors = re.search(r"author = {(.*?)},\n", entry, re.DOTALL)
    year = re.search(r"year = {(\d+)}", entry)
    assert authors is not None
    assert year is not None
    names = [author.split()[-1] for author in re.split(r"\sand\s", authors[1])]
    return f"{', '.join(names)} {year[1]}"


_BY_CITATION = {_cite(entry): f"@{entry.strip()}" for entry in _ENTRIES.split("@") if entry.strip()}
LOCAL = ("127.0.0.1", "localhost", "::1")


def citation_url() -> str:
    """Return the address to cite for CrowdSelect; empty if only this machine can open it."""
    url = str(settings.CITATION_URL)
    return "" if urlsplit(url).hostname in LOCAL else url


def _build_entry() -> str:
    fields = {
        "title": "CrowdSelect: choosing the best workers of a crowd, with a statistical guarantee",
        "version": __version__,
        "url": citation_url(),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@software{{crowdselect,\n{lines}\n}}"


def citation_entry(citation: str) -> str:
    """Return the BibTeX entry of this citation; empty for CrowdSelect's own algorithms."""
    return next((entry for cited, entry in _BY_CITATION.items() if cited in citation), "")


def format_bibtex(citation: str) -> str:
    return "\n".join(filter(None, (citation_entry(citation), _build_entry())))
