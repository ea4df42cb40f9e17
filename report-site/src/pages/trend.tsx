// One metric over runs or time, for several servers.

import { useLoaded } from '../data/load';
import { loadMarks, type Marked } from '../data/marks';
import { countedOtherwise } from '../data/method';
import { loadTrend, parseRange, type Range, type Trend } from '../data/trend';
import type { Combination, Manifest } from '../data/types';
import { inSentence, metricTitle, unitOf, wordsOf } from '../data/words';
import { Chart } from '../parts/chart';
import { Choice, CombinationPick, chosenCombination, NoSuch, Pick, Shown } from '../parts/page';
import { chosenStage } from '../parts/stages';
import { go, here } from '../route';
import { asBadge, MarkList, marksOf } from './marks';
import { Changes, Neighbours, Pinned, RangeLinks } from './trend-about';
import { ALL, bestFirst, choicesOf, describe, plotOf, rowsOf, shows, toggled } from './trend-plot';

const BANDS_UP_TO = 4;

interface Props {
  manifest: Manifest;
  query: URLSearchParams;
}

export function TrendPage({ manifest, query }: Props) {
  const chosen = chosenCombination(manifest, query);
  if (!chosen) return <NoSuch title="Trend" query={query} />;
  const words = wordsOf(manifest, chosen.suite);
  const asked = [query.get('metric') ?? '', words.cost];
  const metric = asked.find((each) => chosen.metrics.includes(each)) ?? chosen.metrics[0] ?? words.cost;
  const stage = chosenStage(chosen.stages, query);
  const range = parseRange(query.get('range'), chosen.runs);
  return (
    <>
      <h1>Trend</h1>
      <div class="controls">
        <CombinationPick manifest={manifest} chosen={chosen} forget={['range', 'pin', 's', 'hide']} />
        <Pick
          label="Metric"
          name="metric"
          value={metric}
          options={chosen.metrics.map((each) => ({ value: each, text: metricTitle(words, each) }))}
        />
        <Pick
          label="Stage"
          name="stage"
          value={stage?.name ?? ''}
          options={chosen.stages.map((each) => ({
            value: each.name,
            text: each.name === String(each.clients) ? `${each.clients.toLocaleString('en-US')} clients` : each.name,
          }))}
        />
        <Choice
          label="Along"
          name="x"
          value={query.get('x') ?? 'run'}
          options={[
            { value: 'run', text: 'runs' },
            { value: 'time', text: 'time' },
          ]}
        />
        <Choice
          label="Values"
          name="y"
          value={query.get('y') ?? 'value'}
          options={[
            { value: 'value', text: 'linear' },
            { value: 'log', text: 'logarithmic' },
            { value: 'first', text: '% of the first' },
          ]}
        />
      </div>
      {stage && (
        <Chosen manifest={manifest} query={query} chosen={chosen} metric={metric} stage={stage.name} range={range} />
      )}
    </>
  );
}

interface ChosenProps extends Props {
  chosen: Combination;
  metric: string;
  stage: string;
  range: Range | null;
}

function Chosen({ manifest, query, chosen, metric, stage, range }: ChosenProps) {
  const key = JSON.stringify([chosen.id, metric, stage, range]);
  const loaded = useLoaded(key, () => Promise.all([loadTrend(chosen, stage, metric, range), loadMarks(chosen)]));
  return (
    <Shown loaded={loaded}>
      {([trend, marked]) => (
        <Drawn
          manifest={manifest}
          query={query}
          chosen={chosen}
          metric={metric}
          stage={stage}
          range={range}
          trend={trend}
          marked={marked}
          id={key}
        />
      )}
    </Shown>
  );
}

function Drawn({
  manifest,
  query,
  chosen,
  metric,
  stage,
  range,
  trend,
  marked,
  id,
}: ChosenProps & { trend: Trend; marked: Marked; id: string }) {
  const words = wordsOf(manifest, chosen.suite);
  const lower = words.metrics[metric]?.better !== 'higher';
  const choices = choicesOf(query, bestFirst(trend, chosen.servers, lower));
  const { only, hidden, scale, along } = choices;
  const unit = unitOf(words, metric);
  const names = chosen.servers.filter((server) => trend.servers[server]);
  const shown = names.filter((server) => shows(choices, server));
  const bands = shown.length <= BANDS_UP_TO;
  const marks = marksOf(marked, trend, bands ? shown : []);
  const badges = marks.map(asBadge);
  const otherwise = countedOtherwise(words, [metric], chosen.method);
  const plot = plotOf({ looks: manifest.looks, trend, choices, unit, names, bands, badges });
  const pinned = plot.pinned ?? null;
  return (
    <>
      <RangeLinks chosen={chosen} trend={trend} range={range} />
      <Chart
        title={`${metricTitle(words, metric)}, stage ${stage}, ${inSentence(words.title)}, ${chosen.profile}`}
        plot={plot}
        version={JSON.stringify([id, scale, along, only, hidden, plot.pinned])}
        describe={(index) => describe(trend, index)}
        rows={rowsOf(trend, badges)}
        onToggle={(server) => go(toggled(choices, chosen.servers, server))}
        onOnly={(server) => go({ s: server, hide: null })}
        onZoom={(from, to) => go({ range: `${trend.from + from}-${trend.from + Math.max(to, from + 1)}` })}
        onPin={(index) => go({ pin: index === plot.pinned ? null : (trend.ids[index] ?? null) })}
        empty="None of these runs measured it. Another metric or stage may have values."
      />
      {(only.length > 0 || hidden.length > 0) && (
        <p>
          {!query.has('s') && !query.has('hide') && `The ${only.length} best by their newest value. `}
          <a href={here({ s: ALL, hide: null })}>Show all servers</a>
        </p>
      )}
      {pinned !== null && (
        <Pinned
          manifest={manifest}
          chosen={chosen}
          trend={trend}
          index={pinned}
          marks={marks.filter((mark) => mark.at === pinned)}
        />
      )}
      <Changes manifest={manifest} trend={trend} unit={unit} names={shown} />
      <MarkList manifest={manifest} trend={trend} marks={marks} marked={marked} />
      {otherwise && <p class="aside">{otherwise}</p>}
      <Neighbours manifest={manifest} chosen={chosen} />
      <Explanation />
    </>
  );
}

function Explanation() {
  return (
    <p class="aside">
      Band and line behind a server: where its next run should lie, three standard deviations around the level of its
      last 20 runs, drawn for up to {BANDS_UP_TO} servers. Triangles: its level changed there. Crosses at the lower
      edge: no valid trial. Above the chart: releases (dashed), other environments (solid), another harness and, for up
      to {BANDS_UP_TO} servers, other versions that they report (dotted). Drag to zoom, click to pin.
    </p>
  );
}
