import { isMessage } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import { ClaimCommandsResponseSchema } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';

/** A call of the worker for a merchant: before it nothing is done, after it the service has committed. */
export interface GatedStep {
  readonly merchantId: string;
  readonly when: 'before' | 'after';
  readonly rpc: string;
}

/** To a process that runs with a gate: a step to hold, or to let all go. */
export type GateCommand = { readonly hold: GatedStep } | { readonly letGo: true };

/** From that process: it has armed or reached a merchant's step, or has made all calls that it held. */
export type GateReport = { readonly armed: string } | { readonly held: string } | { readonly letGo: true };

/** Holds the first call that is a merchant's step, until all are let go. A repetition of the call passes. */
export class StepGate {
  readonly #steps = new Map<string, GatedStep>();
  readonly #merchants = new Map<string, string>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #held: Promise<unknown>[] = [];
  readonly #onHeld: (merchantId: string) => void;

  constructor(onHeld: (merchantId: string) => void) {
    this.#onHeld = onHeld;
  }

  arm(step: GatedStep): void {
    this.#steps.set(step.merchantId, step);
  }

  /** Resolves when the calls that were held have ended, in whatever way. */
  async letGo(): Promise<void> {
    this.#steps.clear();
    this.#opened.resolve();
    await Promise.allSettled(this.#held);
  }

  over(transport: Transport): Transport {
    const gate = this;
    return {
      ...transport,
      async unary(method, signal, timeoutMs, header, message, contextValues) {
        const call = () => transport.unary(method, signal, timeoutMs, header, message, contextValues);
        const before = gate.#take('before', method.name, gate.#merchantsOf(message));
        if (before) return gate.#hold(before, call);
        const answer = await call();
        gate.#learn(answer.message);
        const merchants = [...gate.#merchantsOf(message), ...gate.#merchantsOf(answer.message)];
        const after = gate.#take('after', method.name, merchants);
        return after ? gate.#hold(after, async () => answer) : answer;
      },
    };
  }

  /** EndStarts names its commands, but not their merchants. */
  #learn(answer: object): void {
    if (!isMessage(answer, ClaimCommandsResponseSchema)) return;
    for (const { id, merchantId } of answer.commands) this.#merchants.set(id, merchantId);
  }

  #take(when: GatedStep['when'], rpc: string, merchants: readonly string[]): GatedStep | undefined {
    const step = merchants
      .map((merchantId) => this.#steps.get(merchantId))
      .find((one) => one?.when === when && one.rpc === rpc);
    if (step) this.#steps.delete(step.merchantId);
    return step;
  }

  #hold<T>({ merchantId }: GatedStep, call: () => Promise<T>): Promise<T> {
    const held = this.#opened.promise.then(call);
    this.#held.push(held);
    this.#onHeld(merchantId);
    return held;
  }

  /** The merchants that a message is about. */
  #merchantsOf(message: object): string[] {
    if (isMessage(message, ClaimCommandsResponseSchema)) {
      return message.commands.map(({ merchantId }) => merchantId);
    }
    if ('merchantId' in message) return [String(message.merchantId)];
    const commandIds = 'commandIds' in message && Array.isArray(message.commandIds) ? message.commandIds : [];
    return commandIds.flatMap((id) => this.#merchants.get(String(id)) ?? []);
  }
}
