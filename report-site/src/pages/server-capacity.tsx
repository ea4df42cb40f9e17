// The capacity of one server within the limits of its suite: the number, what ended the search, and each probed load.

import {
  BINDS,
  type Capacity,
  type CapacitySeries,
  capacityText,
  intervalText,
  loadCapacities,
} from '../data/capacity';
import { limitOf } from '../data/curves';
import { useLoaded } from '../data/load';
import type { Manifest, Words } from '../data/types';
import { inSentence, loadUnit, metricTitle, unitOf, wordsOf } from '../data/words';
import { Chart } from '../parts/chart';
import { Facts } from '../parts/facts';
import { AtCommit, Shown } from '../parts/page';
import { href } from '../route';
import { serverStroke } from '../theme';
import { formatNumber, formatQuantity, formatTime } from '../units';

const COSTS: [string, string][] = [
  ['cpu_cores', 'CPU cores'],
  ['services_cpu_cores', 'services\u2019 CPU cores'],
  ['memory_bytes.peak', 'memory'],
  ['network_in_bytes_per_second', 'in'],
  ['network_out_bytes_per_second', 'out'],
];

const HEIGHT = 260;
/** end of the axis, in multiples of the largest load */
const BEYOND = 1.06;

interface Props {
  manifest: Manifest;
  series: CapacitySeries;
  id: string;
}

export function ServerCapacity({ manifest, series, id }: Props) {
  const words = wordsOf(manifest, series.suite);
  const loaded = useLoaded(series.id, () => loadCapacities(series));
  const environment = manifest.environments[series.environment]?.cpu_model.replace(/\((R|TM)\)/g, '');
  return (
    <section class="capacity" aria-label={`Capacity, ${words.title}`}>
      <h2>Capacity: {inSentence(words.title)}</h2>
      <Shown loaded={loaded}>
        {(capacities) => {
          const found = capacities[id];
          if (!found) return <p class="empty">This file has no search of this server.</p>;
          return (
            <>
              <About {...{ manifest, words, series, found }} machine={environment ?? series.environment} />
              <div class="stack">
                {[words.headline, 'cpu_cores'].map((metric) => (
                  <Curve key={metric} {...{ manifest, words, series, id, found, metric }} />
                ))}
              </div>
            </>
          );
        }}
      </Shown>
    </section>
  );
}

interface AboutProps {
  manifest: Manifest;
  words: Words;
  series: CapacitySeries;
  found: Capacity;
  machine: string;
}

function About({ manifest, words, series, found, machine }: AboutProps) {
  const unit = loadUnit(words, series.searched);
  const interval = intervalText(found);
  const costs = COSTS.flatMap(([metric, title]) => {
    const value = found.per_1000[metric];
    return value === undefined ? [] : [`${title} ${formatQuantity(value, unitOf(words, metric))}`];
  });
  const facts: [string, string][] = [
    ['Ended by', found.reason],
    ...(found.binding
      ? [
          ['Binds', `${BINDS[found.binding.resource] ?? found.binding.resource}: ${found.binding.sentence}`] as [
            string,
            string,
          ],
        ]
      : []),
    [`For 1,000 ${unit}`, costs.join(', ') || 'not measured'],
    ['Fresh starts', found.starts.map(formatNumber).join(', ') || 'none'],
    ...(found.failure ? [['Next start', found.failure] as [string, string]] : []),
  ];
  return (
    <>
      <p class="lead">
        <strong>{capacityText(found, unit)}</strong>
        {interval && `, ${interval},`} within the limits of the suite
        {found.starts.length > 0 && !found.confirmed && '; not confirmed in the available time'}
      </p>
      <Facts facts={facts} />
      <p>
        {formatTime(found.created)} UTC, <AtCommit manifest={manifest} commit={found.commit} />, {machine} (
        {series.environment})
      </p>
      <p class="links">
        <a href={`capacity/${found.record}.json.gz`}>the record (JSON, gzip)</a>
        <a href={href('', { rank: 'capacity', c: combinationOf(manifest, series) })}>all servers</a>
      </p>
    </>
  );
}

/** The combination in which the overview ranks this series; null if it has searches only. */
function combinationOf(manifest: Manifest, { environment, suite }: CapacitySeries): string | null {
  return manifest.combinations.find((each) => each.environment === environment && each.suite === suite)?.id ?? null;
}

interface CurveProps {
  manifest: Manifest;
  words: Words;
  series: CapacitySeries;
  id: string;
  found: Capacity;
  metric: string;
}

/** The loads of the search. A probe is shorter than a stage, so these points belong to no other curve. */
function Curve({ manifest, words, series, id, found, metric }: CurveProps) {
  const unit = unitOf(words, metric);
  const loads = found.points.map(({ load }) => load);
  const limit = limitOf(words, metric);
  const values = found.points.map(({ metrics }) => metrics[metric] ?? null);
  const counted = loadUnit(words, series.searched);
  const said = (index: number) => (found.points[index]?.carried ? 'carried' : 'not carried');
  return (
    <Chart
      title={`${metricTitle(words, metric)} in the search, against ${counted}`}
      version={JSON.stringify([series.version, id, metric])}
      plot={{
        x: loads,
        xFormat: formatNumber,
        xRange: [0, Math.max(1, ...loads) * BEYOND],
        yFormat: (value) => formatQuantity(value, unit),
        unit,
        log: unit === 'seconds' && values.some((value) => value !== null && value > 0),
        lines: [{ label: id, values, stroke: serverStroke(manifest.looks, id), shown: true }],
        limit: limit && { value: limit.value, label: `limit ${formatQuantity(limit.value, unit)}` },
        uprights: found.carried
          ? [{ x: found.carried, label: `carries ${formatNumber(found.carried)}`, colour: 'ink' }]
          : [],
        height: HEIGHT,
      }}
      describe={(index) => `${formatNumber(loads[index] ?? 0)} ${counted}, ${said(index)}`}
      rows={{
        titles: [counted, 'Answer'],
        cells: (index) => [
          { text: formatNumber(loads[index] ?? 0), value: loads[index] ?? null },
          { text: said(index) },
        ],
      }}
      empty="No load has a value."
    />
  );
}
