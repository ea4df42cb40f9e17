// Events along the runs of a combination: releases, other environments, other tools.

import { load, Unreadable } from './load';
import type { Combination, Mark, Marks } from './types';

export interface Marked {
  marks: Mark[];
  /** number of older marks */
  leftOut: number;
  /** why there are no marks, if they cannot be read */
  why: string;
}

/** Loads the marks of a trend. The trend is shown without them if they cannot be read. */
export async function loadMarks(combination: Combination): Promise<Marked> {
  if (!combination.marks) return { marks: [], leftOut: 0, why: '' };
  try {
    const found = await load<Marks>(`${combination.id}/marks`, combination.marks);
    return { marks: found.marks, leftOut: found.left_out, why: '' };
  } catch (error) {
    if (error instanceof Unreadable) return { marks: [], leftOut: 0, why: error.message };
    throw error;
  }
}
