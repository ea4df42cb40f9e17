// Published comparisons of which no suite is here yet: their figures as printed, where they come from, what to mind.

import type { Unit } from './types';

/** A quantity in base units, or the words of the publication. */
type Figure = string | [number, Unit];

export interface Publication {
  id: string;
  title: string;
  /** what was measured, on what, under which load */
  setting: string;
  columns: string[];
  rows: [string, ...Figure[]][];
  minds: string[];
}

const seconds = (value: number): Figure => [value, 'seconds'];
const rate = (value: number): Figure => [value, 'per_second'];
const share = (value: number): Figure => [value, 'ratio'];
const count = (value: number): Figure => [value, 'count'];

export const PUBLICATIONS: Publication[] = [
  {
    id: 'typing-game',
    title: 'Socket.IO engines',
    setting:
      'A developer\u2019s article of January 2026: a typing game over Socket.IO, rooms of at most six, a keystroke each ' +
      '200 ms to the whole room and a ping a second; 4 new clients a second until the server ends. Server on 2 vCPU and ' +
      '4 GB, Artillery on 4 vCPU and 8 GB.',
    columns: ['Engine', 'Versions', 'p95 below 800 clients', 'Where it ends'],
    rows: [
      ['node-ws', 'Node.js 24.11.1, ws', '15 to 20 ms', 'CPU 100 % and latency explodes near 1,000 clients'],
      ['bun-ws', 'Bun 1.3.6, ws', '-', 'CPU 100 % near 1,200 clients'],
      ['bun-native', 'Bun 1.3.6, @socket.io/bun-engine 0.1.0', 'about 5 ms', 'CPU 100 % near 1,300; least memory'],
      [
        'node-uws',
        'Node.js 24.11.1, uWebSockets.js 20.52.0',
        'about 5 ms',
        'CPU 80 % at 1,500 to 3,000, dies after about 3,250; event-loop delay flat',
      ],
    ],
    minds: [
      'Four clients more each second are never a steady state: a number of clients was passed, not held.',
      'The game lets a loaded server ask its clients to batch keystrokes, so the load may shrink where a server is slow.',
    ],
  },
  {
    id: 'token-stream',
    title: 'SSE with Spring',
    setting:
      'A developer\u2019s article: one text sent character by character as server-sent events to 10 virtual users of nGrinder, one minute.',
    columns: ['Server', 'Streams a second', 'Mean duration'],
    rows: [
      ['SseEmitter (Spring MVC)', rate(15), seconds(0.692)],
      ['WebFlux', rate(67.3), seconds(0.149)],
    ],
    minds: [
      'Ten users in a closed loop: the slower server was asked less often, so the durations are not those of one load.',
      'One minute each, no repetition and no percentiles are published.',
    ],
  },
  {
    id: 'location',
    title: 'Location sharing',
    setting:
      'A developer\u2019s article: one Spring server that shares positions, each client every 3 s with a group of about ' +
      'four. k6 grows to 300 clients in 20 s and to 10,000 in 30 s, then ends within 10 s. The publication chose STOMP.',
    columns: ['Transport', 'Requests', 'p95', 'Sessions', 'Messages received', 'Heap used'],
    rows: [
      ['Short polling', rate(770), seconds(1.94), '-', '-', share(0.29)],
      ['Long polling', rate(643), seconds(8.06), '-', '-', share(0.63)],
      ['WebSocket', '-', '-', count(8771), '1,336,749 (14,836 /s)', share(0.43)],
      ['STOMP', '-', '-', count(9844), '3,409,118 (37,874 /s)', '-'],
    ],
    minds: [
      'The published script does not do what the article says: its groups are not of four, the short poll asks for a path ' +
        'that the server does not have, and a client that opened a WebSocket never goes on to STOMP. The figures cannot be relied on.',
      'Requests of one transport and messages of another are not the same work. What compares them is the age of a position when another member gets it.',
    ],
  },
  {
    id: 'posts',
    title: 'Servlet and WebFlux',
    setting:
      'A developer\u2019s article: one insert into MySQL a request, over 10 connections, k6 without think time for 60 s. ' +
      'The servlet stack ran 200 threads, the reactive one at most 35.',
    columns: ['Stack', 'Clients', 'Requests', 'Errors', 'Mean', 'p95'],
    rows: [
      ['Servlet and JPA', count(3000), rate(3413), share(0), seconds(0.871), seconds(1.037)],
      ['WebFlux and R2DBC', count(3000), rate(3448), share(0), seconds(0.863), seconds(0.968)],
      ['Servlet and JPA', count(5000), rate(3465), share(0), seconds(1.423), seconds(1.639)],
      ['WebFlux and R2DBC', count(5000), rate(3379), share(0), seconds(1.46), seconds(1.613)],
      ['Servlet and JPA', count(10000), rate(3445), share(0.0638), seconds(2.334), seconds(2.783)],
      ['WebFlux and R2DBC', count(10000), rate(3251), share(0), seconds(2.989), seconds(3.321)],
      ['Servlet and JPA', count(15000), rate(3343), share(0.2529), seconds(2.365), seconds(3.92)],
      ['WebFlux and R2DBC', count(15000), rate(2659), share(0), seconds(5.327), seconds(6.06)],
    ],
    minds: [
      'Ten connections to the database bound both stacks to about 3,400 requests a second; more clients only wait longer.',
      'A refused request is quick: the mean of a stack with 25 % errors is not that of the work.',
    ],
  },
];
