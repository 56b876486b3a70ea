import { isMessage } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import { ClaimCommandsResponseSchema } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';

/** A point in one of the worker's calls for a merchant: before the request, or after the service has committed. */
export interface GatedStep {
  readonly merchantId: string;
  readonly when: 'before' | 'after';
  readonly rpc: string;
}

/** Sent to a process with a gate: hold a step, or release all held calls. */
export type GateCommand = { readonly hold: GatedStep } | { readonly release: true };

/** Sent by that process: a merchant's step is armed or held, or all held calls have ended. */
export type GateReport = { readonly armed: string } | { readonly held: string } | { readonly released: true };

/** Holds the first call that matches a merchant's step, until all are released. A retry of the call is not held. */
export class StepGate {
  readonly #steps = new Map<string, GatedStep>();
  readonly #merchants = new Map<string, string>();
  readonly #released = Promise.withResolvers<void>();
  readonly #held: Promise<unknown>[] = [];
  readonly #onHeld: (merchantId: string) => void;

  constructor(onHeld: (merchantId: string) => void) {
    this.#onHeld = onHeld;
  }

  arm(step: GatedStep): void {
    this.#steps.set(step.merchantId, step);
  }

  /** Resolves when the held calls have ended, whether they succeeded or failed. */
  async releaseAll(): Promise<void> {
    this.#steps.clear();
    this.#released.resolve();
    await Promise.allSettled(this.#held);
  }

  over(transport: Transport): Transport {
    const gate = this;
    return {
      ...transport,
      async unary(method, signal, timeoutMs, header, message, contextValues) {
        const call = () => transport.unary(method, signal, timeoutMs, header, message, contextValues);
        const before = gate.#match('before', method.name, gate.#merchantsOf(message));
        if (before) return gate.#hold(before, call);
        const answer = await call();
        gate.#rememberMerchants(answer.message);
        const merchants = [...gate.#merchantsOf(message), ...gate.#merchantsOf(answer.message)];
        const after = gate.#match('after', method.name, merchants);
        return after ? gate.#hold(after, async () => answer) : answer;
      },
    };
  }

  /** EndStarts names its commands, but not their merchants. */
  #rememberMerchants(answer: object): void {
    if (!isMessage(answer, ClaimCommandsResponseSchema)) return;
    for (const { id, merchantId } of answer.commands) this.#merchants.set(id, merchantId);
  }

  #match(when: GatedStep['when'], rpc: string, merchants: readonly string[]): GatedStep | undefined {
    const step = merchants
      .map((merchantId) => this.#steps.get(merchantId))
      .find((one) => one?.when === when && one.rpc === rpc);
    if (step) this.#steps.delete(step.merchantId);
    return step;
  }

  #hold<T>({ merchantId }: GatedStep, call: () => Promise<T>): Promise<T> {
    const held = this.#released.promise.then(call);
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
