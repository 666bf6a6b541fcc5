import type { OrganizationRole } from './permissions.ts'
import type { RobotState } from './robot-state.ts'
import type { RobotStatus, Role, SessionAction, SessionStatus } from './status.ts'

type Texts<Code extends string> = Readonly<Record<Code, string>>

/** Labels of robot statuses. Labels of the protocol's codes are typed by the protocol, all others by the REST API. */
export const robotStatusTexts: Texts<RobotStatus> = {
  AVAILABLE: 'Ready',
  IN_SESSION: 'In session',
  OFFLINE: 'Offline',
}

/** Labels of robot states, the same for all roles. */
export const robotStateTexts: Texts<RobotState> = {
  READY: 'Ready',
  DRIVING: 'Driving',
  PAUSED: 'Paused',
  STOPPED: 'Stopped',
  LOST: 'Lost',
  OFFLINE: 'Offline',
}

export const sessionStatusTexts: Texts<SessionStatus> = {
  PENDING: 'Scheduled',
  ACTIVE: 'Active',
  PAUSED: 'Paused',
  COMPLETED: 'Completed',
  CANCELLED: 'Cancelled',
}

export const roleTexts: Texts<Role> = { client: 'Owner', operator: 'Operator', admin: 'Admin' }

/** Labels of the roles in an organization. */
export const organizationRoleTexts: Texts<OrganizationRole> = {
  owner: 'Owner',
  admin: 'Admin',
  supervisor: 'Supervisor',
  operator: 'Operator',
  viewer: 'Viewer',
  billing: 'Billing',
}

/** Verb phrases of the session actions, for use after "may": "Only the operator may resume the session." */
export const actionTexts: Texts<SessionAction> = {
  start: 'start the session',
  pause: 'pause the session',
  resume: 'resume the session',
  end: 'end the session',
  cancel: 'cancel the session',
  emergency_stop: 'stop the robot',
  clear_stop: 'clear the stop',
  request_clear_stop: 'ask for the stop to be cleared',
  approve_extension: 'approve an extension',
  decline_extension: 'decline an extension',
}

export const certificationStatusTexts = {
  PENDING: 'Pending',
  APPROVED: 'Approved',
  REJECTED: 'Rejected',
  REVOKED: 'Revoked',
} as const

export const invoiceStatusTexts = {
  DRAFT: 'In preparation',
  OPEN: 'Unpaid',
  PAID: 'Paid',
  FAILED: 'Payment failed',
  VOID: 'Voided',
} as const

export const payoutStatusTexts = { PENDING: 'Processing', PAID: 'Paid', FAILED: 'Failed' } as const

export const deliveryStatusTexts = { PENDING: 'Pending', DELIVERED: 'Delivered', FAILED: 'Failed' } as const

export const extensionStatusTexts = {
  REQUESTED: 'Requested',
  APPROVED: 'Approved',
  DECLINED: 'Declined',
  EXPIRED: 'Expired',
} as const

/** Why a webhook is disabled. */
export const webhookOffTexts = {
  user: 'You have disabled it.',
  failing: 'The platform disabled it because every delivery failed for days.',
  gone: 'The platform disabled it because the address answered 410 Gone.',
} as const

/** Why an operator is not available. */
export const unavailableTexts = {
  in_session: 'You are not available while you are in a session.',
  no_schedule:
    'You are not shown as available: your schedule has no hours yet. You can still start sessions.',
  outside_schedule: 'The time is outside the hours of your schedule. You can still start sessions.',
  offline: 'The time is within your schedule, but the platform does not see you online yet.',
} as const

export const logLevelTexts = { debug: 'Debug', info: 'Info', warn: 'Warning', error: 'Error' } as const
