// Two clients talk to a server as its protocol.yml describes. `pushbench protocol check` passes PUSH_TALK, the file
// with the server and the declaration, and expects the conversation in PUSH_REPORT.
import { converse } from 'k6/x/push';

const talk = JSON.parse(open(__ENV.PUSH_TALK));

export const options = { vus: 1, iterations: 1 };

export default function () {}

export function handleSummary() {
  return { [__ENV.PUSH_REPORT]: converse(talk) };
}
