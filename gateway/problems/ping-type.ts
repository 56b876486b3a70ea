/** Sent to one subscription when it is created or reactivated, or as a test; it cannot be subscribed to or published. */
export const PING_TYPE = 'webhook.ping.v1';
