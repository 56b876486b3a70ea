import { randomBytes } from 'node:crypto';
import type { Client } from '@connectrpc/connect';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccountService } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { callFor } from '../../clients.ts';
import { sessionTokenOf, setSessionCookie, tokenHashOf } from '../session/session-cookie.ts';
import type { Identity } from './open-id-client.ts';

const TOKEN_BYTES = 32;
const MAX_USER_AGENT_LENGTH = 300;

/** Starts a session with a new token, and ends the browser's previous one. */
export async function startSession(
  accounts: Client<typeof AccountService>,
  identity: Identity,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const replaced = sessionTokenOf(request);
  await accounts.startSession(
    {
      ...identity,
      tokenSha256: tokenHashOf(token),
      ...(replaced !== undefined && { replacedTokenSha256: tokenHashOf(replaced) }),
      ipAddress: request.ip,
      userAgent: (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT_LENGTH),
    },
    callFor(request),
  );
  setSessionCookie(reply, token);
}
