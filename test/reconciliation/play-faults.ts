import { setTimeout as delay } from 'node:timers/promises';
import type { Endpoint } from './endpoints.ts';
import type { EndpointName, Fault } from './fault-schedule.ts';
import type { FaultWindow } from './records.ts';
import type { System } from './system.ts';

export interface PlayOptions {
  readonly say: (line: string) => void;
  /** Ends the run early, by a rejection once everything is stopped. */
  readonly signal?: AbortSignal;
}

/** Injects all faults of the schedule. @returns when each began, and when its target had recovered. */
export async function playFaults(
  plan: readonly Fault[],
  system: System,
  endpoints: ReadonlyMap<EndpointName, Endpoint>,
  { say, signal }: PlayOptions,
): Promise<FaultWindow[]> {
  const startedAt = performance.now();
  /** A target that is slow to recover is left alone until it has. */
  const busy = new Map<string, Promise<void>>();
  const windows: FaultWindow[] = [];
  for (const fault of plan) {
    await delay(Math.max(0, startedAt + fault.atMs - performance.now()), undefined, { signal });
    const { kind, target } = fault;
    const played = (busy.get(target) ?? Promise.resolve()).then(async () => {
      const from = Date.now();
      say(`${seconds(performance.now() - startedAt)} ${kind}: ${target}, ${seconds(fault.forMs)}`);
      await playFault(fault, system, endpoints);
      windows.push({ kind, target, from, to: Date.now() });
    });
    // Promise.all below reports the failure.
    played.catch(() => undefined);
    busy.set(target, played);
  }
  await Promise.all(busy.values());
  return windows;
}

async function playFault(
  fault: Fault,
  { victims, links, temporal }: System,
  endpoints: ReadonlyMap<EndpointName, Endpoint>,
): Promise<void> {
  switch (fault.kind) {
    case 'kill':
    case 'lose state': {
      const victim = victims[fault.target];
      await victim.kill();
      if (fault.kind === 'lose state') await temporal.loseState();
      await delay(fault.forMs);
      return victim.start();
    }
    case 'pause':
    case 'pause past the lease': {
      const victim = victims[fault.target];
      victim.signal('SIGSTOP');
      await delay(fault.forMs);
      return victim.signal('SIGCONT');
    }
    case 'drop':
    case 'lose answers':
    case 'delay':
    case 'reset':
    case 'half-close': {
      const end = links.get(fault.target)!.begin(fault.kind);
      await delay(fault.forMs);
      return end();
    }
    case 'answer 500':
    case 'answer 503':
    case 'answer late':
    case 'hang':
    case 'hang up': {
      const endpoint = endpoints.get(fault.target)!;
      endpoint.fault = fault.kind;
      await delay(fault.forMs);
      endpoint.fault = undefined;
      return;
    }
    default:
      fault satisfies never;
  }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
