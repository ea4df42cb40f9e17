import { load as loadOf } from 'k6/x/push';

const load = loadOf(JSON.parse(open(__ENV.PUSH_LOAD)), ({ greetings_per_second: rate }) => ({ rate }));

export const options = { scenarios: { presence: load.scenario() } };

export default function () {
  load.play();
}

export function handleSummary() {
  return { [__ENV.PUSH_REPORT]: load.report('json') };
}
