#!/usr/bin/env bash
# Installs what the tests need into .venv-test and runs them. With CI=true the slow tier runs too.
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "annotate needs Python 3.11 or newer; set PYTHON to its path (found: $("$python" --version))" >&2
  exit 2
}

# Real terminals, system calls, browsers, PDF pages, LaTeX and R are tested where these programs are. Without them (and without
# the right to install them) those tests skip and say so.
packages=()
want() { command -v "$1" >/dev/null || packages+=("${@:2}"); }
want tmux tmux
want strace strace
if [ "${CI:-}" = true ]; then
  want chromium chromium
  want openssl openssl
  want pdftoppm poppler-utils
  want pdflatex texlive-latex-base texlive-latex-recommended lmodern
  want Rscript r-base-core
  want java default-jre-headless
fi
if [ ${#packages[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

[ -x .venv-test/bin/python ] || "$python" -m venv .venv-test
.venv-test/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[all,spark,docs,test]'

export PATH="$PWD/.venv-test/bin:$PATH"
ruff format --check .
ruff check .
mypy
lint-imports
python -m pytest -n 2 --dist loadfile "$@"
if [ "${CI:-}" = true ]; then
  python -m pytest -m slow -n 2 --dist loadfile "$@"
fi
