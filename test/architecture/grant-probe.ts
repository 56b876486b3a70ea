import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { DescMethod } from '@bufbuild/protobuf';
import { Code, type Transport } from '@connectrpc/connect';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ACTOR_HEADERS } from '../../services/platform/rpc/call-context.ts';
import { ALL_GRANTS, inTest, isGrant, PART_OF } from '../../services/platform/rpc/grants.ts';
import { expectRefusal } from '../support/expect-refusal.ts';
import type { TestHarness } from '../support/harness.ts';

/** The grants that a call needs: of its RPC, of its fields, of its headers. */
interface NeededGrants {
  readonly ofRpc: string;
  readonly others: readonly string[];
  readonly isTest: boolean;
}

/** A grant for the test environment covers RPCs that concern no merchant. */
const WITHOUT_MERCHANT: ReadonlySet<string> = new Set(['payments.webhooks.v1.EventService/ListEventTypes']);

/** The RPCs of docs/internal-grants.md with their grants. */
export async function documentedGrants(): Promise<ReadonlyMap<string, string>> {
  const page = await readFile(new URL('../../docs/internal-grants.md', import.meta.url), 'utf8');
  const grants = new Map<string, string>();
  let service = '';
  for (const [, name, grant] of page.matchAll(/^\| `?([\w.]+)`? \| (.+) \|$/gm)) {
    if (grant === 'Grant') service = name!;
    else grants.set(`${service}/${name}`, grant!.replaceAll('`', ''));
  }
  return grants;
}

/**
 * A transport that makes each call with the documented grants and no others, limited to the test environment if the call
 * is; before that with all grants but one of them, which is refused with the name of the missing one.
 */
export function grantProbe({ services }: TestHarness, documented: ReadonlyMap<string, string>): Transport {
  const holding = (grants: readonly string[]) =>
    services.transportFor({ name: 'test', grants: new Set(grants) });
  return {
    unary: async (method, signal, timeoutMs, header, input, values) => {
      const needed = neededGrants(method, input, new Headers(header), documented);
      await expectRefusedWithout(needed, (grants) =>
        holding(grants).unary(method, signal, timeoutMs, header, input),
      );
      return holding(sufficient(needed)).unary(method, signal, timeoutMs, header, input, values);
    },
    stream: async (method, signal, timeoutMs, header, input, values) => {
      const requests = await Array.fromAsync(input);
      const needed = neededGrants(method, requests[0] ?? {}, new Headers(header), documented);
      const callWith = (grants: readonly string[]) =>
        holding(grants).stream(method, signal, timeoutMs, header, Readable.from(requests), values);
      await expectRefusedWithout(needed, async (grants) => Array.fromAsync((await callWith(grants)).message));
      return callWith(sufficient(needed));
    },
  };
}

async function expectRefusedWithout(
  { ofRpc, others, isTest }: NeededGrants,
  callWith: (grants: readonly string[]) => Promise<unknown>,
): Promise<void> {
  for (const grant of [ofRpc, ...others]) {
    // In other cases a grant for the test environment does not suffice.
    const helps = isTest && isLimitable(grant);
    const enough = [grant, PART_OF[grant]];
    const rest = [...ALL_GRANTS, ...(helps ? [] : [inTest(grant)])].filter(
      (other) => !enough.includes(other),
    );
    await expectRefusal(callWith(rest), Code.PermissionDenied, 'GRANT_MISSING', { grant });
  }
}

function sufficient({ ofRpc, others, isTest }: NeededGrants): string[] {
  return [isTest && isLimitable(ofRpc) ? inTest(ofRpc) : ofRpc, ...others];
}

/** Members and invitations belong to both environments. */
const isLimitable = (grant: string) => isGrant(inTest(grant)) && !grant.startsWith('accounts:');

function neededGrants(
  method: DescMethod,
  input: object,
  headers: Headers,
  documented: ReadonlyMap<string, string>,
): NeededGrants {
  const rpc = `${method.parent.typeName}/${method.name}`;
  const grant = documented.get(rpc);
  if (grant === undefined) throw new Error(`docs/internal-grants.md does not list ${rpc}`);
  const {
    environment,
    occurredAt,
    events,
    type = events?.[0]?.type,
  } = input as {
    readonly environment?: Environment;
    readonly occurredAt?: unknown;
    readonly type?: unknown;
    readonly events?: readonly { readonly type: unknown }[];
  };
  const isPersonCall = headers.has(ACTOR_HEADERS.sessionToken);
  return {
    ofRpc: isPersonCall ? 'on-behalf-of' : grant.replace('<noun>', String(type).split('.')[0]!),
    others: occurredAt ? ['backdate'] : [],
    isTest: environment === Environment.TEST || WITHOUT_MERCHANT.has(rpc),
  };
}
