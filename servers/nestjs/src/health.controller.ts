import { readFileSync } from 'node:fs';
import { Controller, Get } from '@nestjs/common';

const HEALTH = {
  server: 'nestjs',
  runtime: `Node.js ${process.versions.node}`,
  framework: `NestJS ${versionOf('@nestjs/core')} with ws ${versionOf('ws')}`,
};

@Controller('healthz')
export class HealthController {
  @Get()
  health(): typeof HEALTH {
    return HEALTH;
  }
}

function versionOf(dependency: string): string {
  return JSON.parse(readFileSync(new URL('package.json', import.meta.resolve(dependency)), 'utf8')).version;
}
