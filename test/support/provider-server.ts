import { randomUUID } from 'node:crypto';
import { createServer, type ServerHttp2Session } from 'node:http2';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import {
  PayoutProviderService,
  RefundProviderService,
  type SubmitPayoutRequest,
  type SubmitRefundRequest,
} from '../../proto/gen/payments/providers/v1/providers_pb.js';
import { portOf } from './port-of.ts';

type SubmitRefund = ServiceImpl<typeof RefundProviderService>['submitRefund'];
type SubmitPayout = ServiceImpl<typeof PayoutProviderService>['submitPayout'];

/** One answer of a script. The last one of a script is repeated. */
type Script<Handler> = readonly Handler[];

const TOKEN = 'provider-token';

/** A provider of refunds and payouts on its own port, which answers each case and advance by its script. */
export async function startProvider() {
  const refunds = new Map<string, Script<SubmitRefund>>();
  const payouts = new Map<string, Script<SubmitPayout>>();
  const calls: (SubmitRefundRequest | SubmitPayoutRequest)[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const callsOf = (id: string) => calls.filter((call) => idOf(call) === id);
  const handle = connectNodeAdapter({
    routes(router) {
      router.service(RefundProviderService, {
        submitRefund: (request, context) => next(refunds, request, context)(request, context),
      });
      router.service(PayoutProviderService, {
        submitPayout: (request, context) => next(payouts, request, context)(request, context),
      });
    },
  });
  const server = createServer(handle).listen(0, '127.0.0.1');
  server.on('session', (session) => sessions.add(session));
  const url = `http://127.0.0.1:${await portOf(server)}`;

  function next<Handler>(
    scripts: ReadonlyMap<string, Script<Handler>>,
    request: SubmitRefundRequest | SubmitPayoutRequest,
    context: HandlerContext,
  ): Handler {
    if (context.requestHeader.get('authorization') !== `Bearer ${TOKEN}`) {
      throw new ConnectError('unknown token', Code.Unauthenticated);
    }
    calls.push(request);
    const script = scripts.get(idOf(request)) ?? [];
    const answer = script[Math.min(callsOf(idOf(request)).length, script.length) - 1];
    if (answer === undefined) throw new ConnectError('has no script', Code.Unavailable);
    return answer;
  }

  return {
    /** The settings of a worker that submits here. */
    settings: {
      REFUND_PROVIDER_URL: url,
      REFUND_PROVIDER_TOKEN: TOKEN,
      PAYOUT_PROVIDER_URL: url,
      PAYOUT_PROVIDER_TOKEN: TOKEN,
    },
    url,
    /** The answers to the calls about a case, in order. */
    refund: (refundCaseId: string, ...script: Script<SubmitRefund>) => refunds.set(refundCaseId, script),
    /** The answers to the calls about an advance request, in order. */
    payout: (advanceRequestId: string, ...script: Script<SubmitPayout>) =>
      payouts.set(advanceRequestId, script),
    callsOf,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type TestProvider = Awaited<ReturnType<typeof startProvider>>;

const idOf = (request: SubmitRefundRequest | SubmitPayoutRequest) =>
  'refundCaseId' in request ? request.refundCaseId : request.advanceRequestId;

/** The answer that a refund has been accepted, and queued. */
export const accepted = () => ({
  result: {
    case: 'accepted' as const,
    value: {
      providerRefundId: randomUUID(),
      submissionStatus: 'queued',
      submittedAt: timestampFromDate(new Date()),
    },
  },
});

/** An answer that is an error. */
export const failing =
  (code: Code, message = 'try again') =>
  (): never => {
    throw new ConnectError(message, code);
  };

/** Answers only after the caller has timed out. */
export const hanging = (_: unknown, { signal }: HandlerContext) =>
  new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(new ConnectError('gone', Code.Canceled))),
  );
