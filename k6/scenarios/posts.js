// The suite `posts`: each request inserts a row into the server's database.
// `pushbench run` passes a plan in PUSH_LOAD and expects the load report in PUSH_REPORT. By hand:
//   k6 run -e URL=http://127.0.0.1:8080 -e CLIENTS=10 -e SECONDS=10 scenarios/posts.js
import { load as loadOf } from 'k6/x/push';

const plan = __ENV.PUSH_LOAD
  ? JSON.parse(open(__ENV.PUSH_LOAD))
  : {
      url: __ENV.URL || 'http://127.0.0.1:8080',
      authorities: __ENV.AUTHORITIES || '',
      protocol: __ENV.PROTOCOL || 'posts-http',
      declaration: __ENV.DECLARATION ? JSON.parse(open(__ENV.DECLARATION)) : null,
      seed: Number(__ENV.SEED || 1),
      parameters: {
        requests_per_second: Number(__ENV.RATE || 0),
        arrivals: __ENV.ARRIVALS || 'poisson',
      },
      schedule: {
        warmup_seconds: 2,
        stages: [
          {
            clients: Number(__ENV.CLIENTS || 10),
            closed: !__ENV.RATE,
            ramp_seconds: 1,
            settle_seconds: 1,
            steady_seconds: Number(__ENV.SECONDS || 5),
          },
        ],
        drain_seconds: 10,
      },
    };

const load = loadOf(plan, ({ requests_per_second: rate, arrivals }) => ({ rate, arrivals }));

export const options = { scenarios: { posts: load.scenario() } };

export default function () {
  load.play();
}

export function handleSummary() {
  return __ENV.PUSH_REPORT ? { [__ENV.PUSH_REPORT]: load.report('json') } : { stdout: load.report('text') };
}
