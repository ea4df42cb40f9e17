// Published comparisons; docs/publications.yml contains them.

import { load } from './load';
import type { Combination, Manifest, Unit } from './types';

/** A quantity in base units, or the words of the publication. */
export type Figure = string | [number, Unit];

/** What is known about the place of publication. */
export interface Source {
  author: string;
  title: string | null;
  year: number | null;
  address: string | null;
}

export interface Publication {
  id: string;
  title: string;
  /** not in older files */
  source?: Source;
  /** what was measured, on what, under which load */
  setting: string;
  columns: string[];
  rows: Figure[][];
  minds: string[];
  /** what is measured here of the same kind: a metric for each column, a server for each row */
  beside?: Beside | null;
}

export interface Beside {
  suite: string;
  columns: ({ metric: string; unit: Unit | null } | null)[];
  rows: ({ server: string; stage: string | null } | null)[];
}

export async function loadPublications(): Promise<Publication[]> {
  const found = await load<{ publications: Publication[] }>('publications');
  return found.publications;
}

/** The combinations that may be shown beside a publication: runs of its suite, the largest profile first. */
export function combinationsBeside(manifest: Manifest, { beside }: Publication): Combination[] {
  const found = manifest.combinations.filter((each) => each.suite === beside?.suite);
  return [...found].sort((a, b) => Number(b.profile === 'full') - Number(a.profile === 'full'));
}
