// What a published comparison of servers for an electronic whiteboard reports (Kyung Hee University): AWS t3.xlarge, 4 vCPU,
// 16 GiB, server and k6 clients in containers on that one machine, 100 to 1,000 clients of one message a second. As printed.

export interface Published {
  server: string;
  title: string;
  loss: string;
  /** average, p95, p99, max of the round trip, in seconds */
  echo: [number, number, number, number];
  cpu: string;
  memory: string;
  /** leaving the server */
  network: string;
}

export const PUBLISHED: Published[] = [
  {
    server: 'spring-websocket',
    title: 'Spring WebSocket',
    loss: '3 % at first, later below 1 %',
    echo: [0.25, 0.5, 0.5, 2.5],
    cpu: '50 %',
    memory: '400 to 450 MiB',
    network: '30 MB/s',
  },
  {
    server: 'spring-stomp',
    title: 'Spring STOMP, simple broker',
    loss: '1.5 %, later at most 1 %',
    echo: [0.1, 0.2, 0.5, 1.2],
    cpu: '50 %',
    memory: '420 to 550 MiB',
    network: 'up to 40 MB/s',
  },
  {
    server: 'node-ws',
    title: 'Node.js ws',
    loss: '3 %, later at most 1 %',
    echo: [0.25, 0.5, 0.5, 3],
    cpu: '80 %',
    memory: '50 to 70 MiB',
    network: '30 MB/s',
  },
  {
    server: 'fastapi',
    title: 'FastAPI',
    loss: '2.5 %, up to 20 % from 500 clients',
    echo: [8, 20, 20, 100],
    cpu: '100 % at 500 clients',
    memory: '40 to 120 MiB',
    network: 'lower',
  },
  {
    server: 'node-cluster-redis',
    title: 'Node.js cluster with Redis',
    loss: '0 to 5 %, up to 90 % at 1,000 clients',
    echo: [20, 50, 80, 120],
    cpu: '80 %',
    memory: '500 to 2,000 MiB',
    network: '-',
  },
  {
    server: 'fastapi-workers-redis',
    title: 'FastAPI workers with Redis',
    loss: 'rising from 500 clients, about 90 % at 1,000',
    echo: [5, 20, 20, 30],
    cpu: '250 %',
    memory: '180 to 280 MiB',
    network: '-',
  },
];

export const ECHO_POINTS = ['mean', 'p95', 'p99', 'max'] as const;
