"""Tables 2 to 4 of Xue, Yang, Huai and Wang (2021) as printed, in per cent.

A line a row: notion, data set (Diabetes is pima), algorithm, values along n (Table 2) or epsilon (Tables 3 and 4).
"""

from __future__ import annotations

from itertools import product

from diptych.experiments.protocol import Published
from diptych.experiments.series import APPROXIMATE_N, PURE

SIZES = (128, 256, 512)
TABLE_3_EPSILONS = (0.2, 0.5, 0.8, 1.0, 1.5, 2.0)
TABLE_4_EPSILONS = (0.5, 0.8, 1.0, 2.0)
NOTION = {"approximate": APPROXIMATE_N.name, "pure": PURE.name}

TABLE_2_TEXT = """
approximate | pima | non-private, strongly convex | 71.40 72.39 72.88
approximate | diabetic_retinopathy | non-private, strongly convex | 62.82 63.84 65.01
approximate | pima | OffPairStrC | 63.69 64.55 64.63
approximate | diabetic_retinopathy | OffPairStrC | 60.72 62.14 63.59
approximate | pima | DPGDSC | 64.03 64.68 65.85
approximate | diabetic_retinopathy | DPGDSC | 59.72 62.82 65.13
approximate | pima | non-private, convex | 71.73 72.52 72.97
approximate | diabetic_retinopathy | non-private, convex | 61.57 63.86 65.03
approximate | pima | OffPairC | 64.20 64.64 65.87
approximate | diabetic_retinopathy | OffPairC | 60.94 62.85 63.29
approximate | pima | DPGDC2 | 71.30 71.91 72.46
approximate | diabetic_retinopathy | DPGDC2 | 62.32 63.09 64.35
approximate | pima | DPEGD | 71.29 72.21 72.84
approximate | diabetic_retinopathy | DPEGD | 62.95 65.21 66.36
pure | pima | non-private, strongly convex | 71.71 71.99 72.56
pure | diabetic_retinopathy | non-private, strongly convex | 62.39 63.13 65.49
pure | pima | OffPairStrC | 64.37 65.64 66.77
pure | diabetic_retinopathy | OffPairStrC | 59.32 61.00 61.78
pure | pima | DPGDSC | 64.51 65.28 67.16
pure | diabetic_retinopathy | DPGDSC | 59.48 61.07 62.01
pure | pima | non-private, convex | 71.80 72.47 72.80
pure | diabetic_retinopathy | non-private, convex | 61.84 63.42 65.31
pure | pima | OffPairC | 64.97 65.58 67.28
pure | diabetic_retinopathy | OffPairC | 59.55 60.70 61.77
pure | pima | DPEGD | 70.37 71.16 71.24
pure | diabetic_retinopathy | DPEGD | 63.41 64.51 66.54
"""
TABLE_3_TEXT = """
approximate | pima | OffPairStrC | 63.49 63.50 63.93 63.44 63.53 64.26
approximate | pima | DPGDSC | 64.18 64.92 65.72 63.91 64.01 64.29
approximate | diabetic_retinopathy | OffPairStrC | 60.30 60.40 60.47 63.44 63.53 64.26
approximate | diabetic_retinopathy | DPGDSC | 60.63 61.81 62.57 63.91 64.01 64.29
approximate | pima | OffPairC | 63.59 63.63 63.97 63.71 63.96 65.07
approximate | pima | DPGDC2 | 71.72 70.61 72.11 71.05 70.83 71.36
approximate | pima | DPEGD | 71.46 71.49 71.66 71.32 71.50 71.45
approximate | diabetic_retinopathy | OffPairC | 60.21 60.29 60.71 63.71 63.96 65.07
approximate | diabetic_retinopathy | DPGDC2 | 61.27 61.79 60.87 71.05 70.83 71.36
approximate | diabetic_retinopathy | DPEGD | 62.58 62.84 62.89 71.32 71.50 71.45
pure | pima | OffPairStrC | 64.28 64.49 64.53 64.38 64.40 64.84
pure | pima | DPGDSC | 64.45 64.84 64.84 64.63 64.79 64.81
pure | diabetic_retinopathy | OffPairStrC | 59.54 59.57 59.60 64.38 64.40 64.84
pure | diabetic_retinopathy | DPGDSC | 59.60 59.70 59.50 64.63 64.79 64.81
pure | pima | OffPairC | 64.34 64.38 64.49 64.09 64.29 64.30
pure | pima | DPEGD | 70.28 70.49 70.51 70.48 70.59 70.82
pure | diabetic_retinopathy | OffPairC | 59.54 59.59 59.80 64.09 64.29 64.30
pure | diabetic_retinopathy | DPEGD | 62.87 62.84 62.87 70.48 70.59 70.82
"""
TABLE_4_TEXT = """
approximate | pima | OffPairStrC | 53.71 56.05 59.52 64.93
approximate | pima | DPGDSC | 63.26 63.92 64.46 65.51
approximate | diabetic_retinopathy | OffPairStrC | 56.33 59.27 62.92 67.01
approximate | diabetic_retinopathy | DPGDSC | 65.65 66.30 67.23 67.04
approximate | pima | OffPairC | 52.01 52.62 54.51 57.44
approximate | pima | DPGDC2 | 52.94 53.09 54.61 59.96
approximate | pima | DPEGD | 64.52 64.47 64.41 64.37
approximate | diabetic_retinopathy | OffPairC | 50.08 52.90 54.27 62.92
approximate | diabetic_retinopathy | DPGDC2 | 54.37 58.06 60.03 60.44
approximate | diabetic_retinopathy | DPEGD | 66.19 66.21 66.29 66.09
pure | pima | OffPairStrC | 50.65 56.45 59.94 64.13
pure | pima | DPGDSC | 59.16 62.98 62.67 64.63
pure | diabetic_retinopathy | OffPairStrC | 52.24 54.74 57.54 66.25
pure | diabetic_retinopathy | DPGDSC | 62.75 64.56 65.47 66.94
pure | pima | OffPairC | 50.25 50.90 52.57 60.13
pure | pima | DPEGD | 59.16 64.35 64.50 64.47
pure | diabetic_retinopathy | OffPairC | 52.26 50.13 51.43 58.06
pure | diabetic_retinopathy | DPEGD | 66.34 66.50 66.04 66.38
"""


def printed(text: str, epsilons: tuple[float, ...], sizes: tuple[int, ...]) -> tuple[Published, ...]:
    """Return the figures of one table, as shares of 1."""
    figures = []
    for row in text.strip().splitlines():
        notion, dataset, line, values = row.split(" | ")
        for (epsilon, size), value in zip(product(epsilons, sizes), values.split(), strict=True):
            share = round(float(value) / 100.0, 6)
            figures.append(Published(dataset, line, NOTION[notion], epsilon, size, share))
    return tuple(figures)


TABLE_2 = printed(TABLE_2_TEXT, (1.0,), SIZES)
TABLE_3 = printed(TABLE_3_TEXT, TABLE_3_EPSILONS, (128,))
TABLE_4 = printed(TABLE_4_TEXT, TABLE_4_EPSILONS, (256,))
