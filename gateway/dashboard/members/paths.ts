/** Where a merchant's people are, behind its own address. */
export const MEMBERS_PATH = '/members';
export const INVITATIONS_PATH = `${MEMBERS_PATH}/invitations`;
