// Which servers are shown: by language, protocol and tier.

import { type Trait, traitsOf } from '../data/ranking';
import type { Manifest } from '../data/types';
import { here } from '../route';
import { Pick } from './page';

const ALL = '';
const LABELS: Record<Trait, string> = { tier: 'Tier', language: 'Language', protocol: 'Protocol' };

export function Filters({
  manifest,
  servers,
  query,
}: {
  manifest: Manifest;
  servers: string[];
  query: URLSearchParams;
}) {
  const traits = Object.entries(traitsOf(manifest, servers)) as [Trait, string[]][];
  const asked = traits.some(([trait]) => query.get(trait));
  return (
    <>
      {traits.map(([trait, values]) => (
        <Pick
          key={trait}
          label={LABELS[trait]}
          name={trait}
          value={values.includes(query.get(trait) ?? '') ? (query.get(trait) ?? '') : ALL}
          options={[{ value: ALL, text: 'all' }, ...values.map((value) => ({ value, text: value }))]}
        />
      ))}
      {asked && <a href={here({ tier: null, language: null, protocol: null })}>All servers</a>}
    </>
  );
}
