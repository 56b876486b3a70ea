/** Paths below the merchant's. */
export const MEMBERS_PATH = '/members';
export const INVITATIONS_PATH = `${MEMBERS_PATH}/invitations`;
