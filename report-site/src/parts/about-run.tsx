// What a run ran on, how to repeat it, and its verdict on a change.

import { useState } from 'preact/hooks';
import type { JudgedChange, Run } from '../data/run-types';
import type { Words } from '../data/types';
import { metricTitle, unitOf } from '../data/words';
import { copy } from '../exporting';
import { formatChange, formatQuantity } from '../units';
import { WordMark } from './page';
import { Table } from './table';

export function Reproduce({ run }: { run: Run }) {
  if (!run.command) return null;
  return (
    <section aria-labelledby="again">
      <h2 id="again">Measure it again</h2>
      <Command command={run.command} />
    </section>
  );
}

export function Command({ command }: { command: string }) {
  const [said, say] = useState('');
  return (
    <div class="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: users without a pointer scroll it with the arrow keys */}
      <pre tabIndex={0}>{command}</pre>
      <button type="button" onClick={async () => say((await copy(command)) ? 'copied' : 'select it to copy it')}>
        Copy
      </button>
      <output>{said}</output>
    </div>
  );
}

export function Changes({ words, changes }: { words: Words; changes: JudgedChange[] }) {
  const accepted = changes.some((change) => change.word === 'accepted');
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">Head against base</h2>
      <Table
        name="changes"
        columns={[
          { title: 'Server' },
          { title: 'Metric' },
          { title: 'Stage' },
          { title: 'Base', numeric: true },
          { title: 'Head', numeric: true },
          { title: 'Change', numeric: true },
          { title: '95 % interval', numeric: true },
          { title: 'Margin', numeric: true },
          {
            title: 'Smallest visible change',
            numeric: true,
            about: 'the smallest change that nine of ten such comparisons would detect',
          },
          { title: 'Verdict' },
          ...(accepted ? [{ title: 'Accepted because' }] : []),
          { title: 'Rounds', numeric: true },
        ]}
        rows={changes.map((change) => {
          const unit = unitOf(words, change.metric);
          const amount = (value: number | null) =>
            change.scale === 'ratio' ? formatChange(value) : formatQuantity(value, unit);
          return [
            { text: change.server },
            { text: metricTitle(words, change.metric) },
            { text: change.name },
            { text: formatQuantity(change.base, unit), value: change.base },
            { text: formatQuantity(change.head, unit), value: change.head },
            { text: amount(change.change), value: change.change },
            { text: change.low === null ? '-' : `${amount(change.low)} to ${amount(change.high)}` },
            { text: amount(change.margin).replace('+', ''), value: change.margin },
            { text: amount(change.visible).replace('+', ''), value: change.visible },
            { text: change.word, show: <WordMark word={change.word} /> },
            ...(accepted ? [{ text: change.word === 'accepted' ? (change.acceptance?.reason ?? '') : '' }] : []),
            { text: String(change.pairs), value: change.pairs },
          ];
        })}
      />
    </section>
  );
}

/** Without CPUs, the driver is kubernetes, which gives each server a node, or remote, whose server is elsewhere. */
function cpusText(cpus: number[], driver: string): string {
  if (cpus.length > 0) return `CPU ${cpus.join(', ')}`;
  return driver === 'kubernetes' ? 'a node of its own' : 'another machine';
}

export function Environment({ run }: { run: Run }) {
  const { environment, harness } = run;
  if (!environment || !harness) return null;
  const facts: [string, string][] = [
    ['Environment', environment.key],
    ['CPU', `${environment.cpu_model}, ${environment.cpus} CPUs on ${environment.physical_cores ?? 'unknown'} cores`],
    ['Server on', cpusText(environment.server_cpus, environment.driver)],
    ['Generator on', cpusText(environment.generator_cpus, environment.driver)],
    ['Generators', `${environment.generators ?? (environment.method ? 1 : 'not recorded')}`],
    ['Method', `${environment.method ?? 1}`],
    ['Idle CPUs', environment.awake ? 'kept awake' : 'may halt'],
    ['Memory', formatQuantity(environment.memory_bytes, 'bytes')],
    ['Kernel', environment.kernel],
    ['Driver', environment.engine ? `${environment.driver}, ${environment.engine}` : environment.driver],
    ...(run.machines ?? []).map(({ name, servers }): [string, string] => [`Machine ${name}`, servers.join(', ')]),
    ...Object.entries(harness).map(([name, version]): [string, string] => [name, version]),
    ...run.servers.flatMap(({ server, reported }): [string, string][] =>
      reported ? [[server, `${reported.framework} on ${reported.runtime}`]] : [],
    ),
  ];
  return (
    <details>
      <summary>Environment and versions</summary>
      <Table
        name={`${run.run.id} environment`}
        columns={[{ title: 'What' }, { title: 'Value' }]}
        rows={facts.map((fact) => fact.map((text) => ({ text })))}
      />
    </details>
  );
}
