"""Builds the module in C, and puts the library `metaspy_c` beside it: that of METASPY_LIBRARY, or else one that cargo
builds."""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

SCALE = pathlib.Path(__file__).resolve().parent.parent
NAME = "libmetaspy_c.dylib" if sys.platform == "darwin" else "libmetaspy_c.so"


class Build(build_py):
    def run(self):
        super().run()
        library = os.environ.get("METASPY_LIBRARY")
        if not library:
            subprocess.run(["cargo", "build", "--release", "--locked", "-p", "metaspy-c"], cwd=SCALE, check=True)
            target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or SCALE / "target")
            library = SCALE / target / "release" / NAME
        shutil.copy(library, pathlib.Path(self.build_lib) / "metaspy" / NAME)


# The package loads the library before the module, which takes its functions from there.
module = Extension("metaspy._metaspy", ["metaspy/_metaspy.c"], include_dirs=[str(SCALE / "c/include")])

setup(cmdclass={"build_py": Build}, ext_modules=[module])
