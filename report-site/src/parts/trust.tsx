// May a reader trust these numbers: machine, date, valid trials, noise, and how often the judge is right.

import { medianNoise } from '../data/ranking';
import type { Combination, Environment, Manifest, Overview, Words } from '../data/types';
import { inSentence, metricTitle } from '../data/words';
import { href } from '../route';
import { formatNumber, formatTime } from '../units';
import { CommitLink, OutcomeMark, RunLink, Subject } from './page';

/** Where the facts leave room for the ranking below them. */
const ROOMY = '(min-width: 44rem), print';

interface Props {
  manifest: Manifest;
  overview: Overview;
  chosen: Combination;
  words: Words;
}

export function Trust({ manifest, overview, chosen, words }: Props) {
  const { newest } = overview;
  const environment = manifest.environments[chosen.environment];
  return (
    <section class="panel trust" aria-label="What these numbers are worth">
      <p class="lead">
        <OutcomeMark outcome={newest.outcome} /> <RunLink id={newest.id}>{formatTime(newest.created)}</RunLink>,
        {' commit '}
        <CommitLink manifest={manifest} commit={newest.commit} />
        <span class="subject">
          : <Subject manifest={manifest} text={newest.subject} />
        </span>
      </p>
      <Reasons reasons={newest.reasons} run={newest.id} />
      <details open={matchMedia(ROOMY).matches}>
        <summary>What these numbers are worth</summary>
        <dl>
          <div>
            <dt>Machine</dt>
            <dd>{environment ? machineText(environment) : chosen.environment}</dd>
          </div>
          <div>
            <dt>Valid trials</dt>
            <dd>
              {newest.valid} of {newest.trials}
            </dd>
          </div>
          <div>
            <dt>Noise between runs</dt>
            <dd>{noiseText(overview, words)}</dd>
          </div>
          <div>
            <dt>The judge</dt>
            <dd>
              <a href={href('method')}>{judgeText(manifest)}</a>
            </dd>
          </div>
          <div>
            <dt>Words</dt>
            <dd>pass = within limits; worse = against history</dd>
          </div>
        </dl>
      </details>
    </section>
  );
}

/** They lead to the run, which opens on the servers that failed. */
function Reasons({ reasons, run }: { reasons: string[]; run: string }) {
  const [first] = reasons;
  if (!first) return null;
  return (
    <p>
      <RunLink id={run}>
        {first}
        {reasons.length > 1 && ` and ${reasons.length - 1} more`}
      </RunLink>
    </p>
  );
}

function noiseText(overview: Overview, words: Words): string {
  const known = [words.headline, words.cost].flatMap((metric) => {
    const noise = medianNoise(overview.rows, metric);
    return noise === null
      ? []
      : [`\u00b1${Number((noise * 100).toPrecision(2))} % ${inSentence(metricTitle(words, metric))}`];
  });
  return known.join(', ') || 'known from five runs on';
}

function machineText({ cpu_model, physical_cores, cpus, driver }: Environment): string {
  const size = physical_cores === null ? `${cpus} CPUs` : `${physical_cores} cores`;
  return `${cpu_model.replace(/\((R|TM)\)/g, '')}, ${size}, ${driver}`;
}

function judgeText(manifest: Manifest): string {
  const { equal, slower } = manifest.judge ?? {};
  if (!equal?.of || !slower?.of) return 'not calibrated';
  const count = (value: number) => value.toLocaleString('en-US');
  const found = formatNumber(Number(((100 * slower.count) / slower.of).toPrecision(3)));
  const most = formatNumber(Number((100 * equal.most).toPrecision(2)));
  const alarms = `${count(equal.count)} false alarms in ${count(equal.of)} comparisons (at most ${most} %)`;
  return `${alarms}; finds ${found} % of 10 % slowdowns`;
}
