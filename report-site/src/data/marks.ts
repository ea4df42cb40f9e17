// What happened along the runs of a combination: releases, other environments, other tools.

import { load, Unreadable } from './load';
import type { Combination, Mark, Marks } from './types';

export interface Marked {
  marks: Mark[];
  /** how many older ones there are */
  leftOut: number;
  /** why there are none, where they cannot be read */
  why: string;
}

/** A trend can do without them. */
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
