// The headline of one server over its recent runs.

import { useLoaded } from '../data/load';
import { loadTrend } from '../data/trend';
import type { Combination, Manifest, Words } from '../data/types';
import { metricTitle, unitOf } from '../data/words';
import { Chart } from '../parts/chart';
import { Shown } from '../parts/page';
import { href } from '../route';
import { describe, plotOf, rowsOf } from './trend-plot';

interface Props {
  manifest: Manifest;
  words: Words;
  chosen: Combination;
  stage: string;
  id: string;
}

export function ServerTrend({ manifest, words, chosen, stage, id }: Props) {
  const asked = [words.headline, words.cost];
  const metric = asked.find((each) => chosen.metrics.includes(each)) ?? chosen.metrics[0] ?? words.cost;
  const key = JSON.stringify([chosen.id, stage, metric]);
  const loaded = useLoaded(key, () => loadTrend(chosen, stage, metric, null));
  const choices = { only: [id], hidden: [], scale: 'value', along: 'run', pin: '' };
  return (
    <>
      <h3>Trend</h3>
      <Shown loaded={loaded}>
        {(trend) => (
          <Chart
            title={`${metricTitle(words, metric)} of the recent runs, stage ${stage}`}
            plot={plotOf({
              ...{ looks: manifest.looks, trend, choices, unit: unitOf(words, metric) },
              ...{ names: trend.servers[id] ? [id] : [], bands: true, badges: [] },
            })}
            version={key + id}
            describe={(index) => describe(trend, index)}
            rows={rowsOf(trend, [])}
            empty="No recent run measured it."
          />
        )}
      </Shown>
      <p>
        <a href={href('trend', { c: chosen.id, s: id, metric, stage })}>All runs, other metrics and stages</a>
      </p>
    </>
  );
}
