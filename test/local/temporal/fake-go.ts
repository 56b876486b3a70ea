import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { builtTemporal } from '../../../local/temporal/temporal-build.ts';
import { makeFolder } from '../temporary-data-folder.ts';

const SYSTEM_PATH = ['/usr/bin', '/bin'].join(delimiter);

/** A machine with an empty cache, without network, and with only the programs that a test installs. */
export interface FakeMachine {
  /** Where `install` puts programs. */
  readonly bin: string;
  readonly environment: {
    readonly PATH: string;
    readonly XDG_CACHE_HOME: string;
    readonly HTTPS_PROXY: string;
  };
  /** Where a build puts the server. */
  readonly built: string;
  /** Installs a shell script as a program. */
  install(name: string, script: string): void;
  /** Lets a script that waits with `waitFor` go on. */
  signal(event: string): void;
  /** A line of a script that waits for a signal. */
  waitFor(event: string): string;
  remove(): void;
}

export function createFakeMachine(): FakeMachine {
  const { path, remove } = makeFolder();
  const [bin, events] = [join(path, 'bin'), join(path, 'events')];
  for (const folder of [bin, events]) mkdirSync(folder);
  const environment = {
    PATH: [bin, SYSTEM_PATH].join(delimiter),
    XDG_CACHE_HOME: join(path, 'cache'),
    HTTPS_PROXY: 'http://127.0.0.1:1',
  };
  return {
    bin,
    environment,
    built: builtTemporal(environment),
    install(name, script) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    },
    signal: (event) => writeFileSync(join(events, event), ''),
    waitFor: (event) => `until [ -e '${join(events, event)}' ]; do sleep 0.05; done`,
    remove,
  };
}

/**
 * A `go` in place of the compiler, which takes minutes. `go list` downloads a module and prints three stale packages.
 * `go build` runs the lines of `build`, in which $out is the path to write the program to.
 */
export function fakeGoScript(build: string, list = ''): string {
  return `
if [ "$1" = list ]; then
  echo 'go: downloading example.com/module v1.0.0' >&2
  ${list}
  printf '%s\\n' example.com/a example.com/b example.com/c
  exit
fi
while [ "$1" != -o ]; do shift; done
out=$2
${build}`;
}
