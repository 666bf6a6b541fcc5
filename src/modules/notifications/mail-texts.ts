import { type NotificationType, type PlatformReason, reasonTexts } from '@wheelhouse/protocol'

/** What a mail says of one notification: a subject, and a sentence or two. */
export interface NotificationText {
  readonly subject: string
  readonly text: string
}

type Data = Readonly<Record<string, unknown>>

const MAX_NAME_LENGTH = 60

/**
 * A name that somebody else chose, as a mail may show it: in quotes, on one line, short, without characters that
 * control a terminal, hide, or turn the text around.
 */
function quoteName(value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .toWellFormed()
    .trim()
  const short = [...line].slice(0, MAX_NAME_LENGTH).join('')
  return `"${short === line ? line : `${short}...`}"`
}

/** Why the platform did it, behind a sentence. What participants wrote is no part of a mail. */
function formatReason({ reason }: Data): string {
  const code = typeof reason === 'string' && Object.hasOwn(reasonTexts, reason)
  const why = code ? reasonTexts[reason as PlatformReason] : ''
  return why && `: ${why}`
}

const robot = (data: Data) => `robot ${quoteName(data.robot_name)}`
const minutes = (data: Data) => `${Number(data.additional_minutes) || 0} minutes`
const amount = (data: Data) => `${((Number(data.amount_cents) || 0) / 100).toFixed(2)} EUR`
const percent = (data: Data) => `${Math.round((Number(data.battery) || 0) * 100)} %`
/** A time of the platform's own, in UTC: the reader's zone is not known. */
const time = (value: unknown) => {
  const at = new Date(String(value))
  return Number.isNaN(at.getTime()) ? 'that time' : `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
const month = (data: Data) => (/^\d{4}-\d{2}$/.test(String(data.month)) ? ` for ${data.month}` : '')

/**
 * Every kind in plain words. Of what others wrote only names appear: reasons and comments are for those who look
 * the session up, so that nobody can have the platform send a text of theirs.
 */
const kinds: Readonly<Record<NotificationType, (data: Data) => NotificationText>> = {
  'session.scheduled': (data) => ({
    subject: `Session planned with ${robot(data)}`,
    text: `A session with ${robot(data)} was planned.`,
  }),
  'session.started': (data) => ({
    subject: `Session started with ${robot(data)}`,
    text: `An operator has taken over ${robot(data)}.`,
  }),
  'session.paused': (data) => ({
    subject: `Session paused with ${robot(data)}`,
    text: `The session with ${robot(data)} is paused${formatReason(data)}. The robot stands.`,
  }),
  'session.resumed': (data) => ({
    subject: `Session resumed with ${robot(data)}`,
    text: `The session with ${robot(data)} goes on.`,
  }),
  'session.ended': (data) => ({
    subject: `Session ended with ${robot(data)}`,
    text: `The session with ${robot(data)} is over${formatReason(data)}.`,
  }),
  'session.cancelled': (data) => ({
    subject: `Session cancelled with ${robot(data)}`,
    text: `The planned session with ${robot(data)} will not take place${formatReason(data)}.`,
  }),
  'session.stopped': (data) => ({
    subject: `EMERGENCY STOP of ${robot(data)}`,
    text: `The emergency stop of ${robot(data)} was pressed. The robot stands, and the session is paused until somebody clears the stop.`,
  }),
  'session.stop_cleared': (data) => ({
    subject: `Emergency stop cleared of ${robot(data)}`,
    text: `The emergency stop of ${robot(data)} was cleared. The session is paused and may be resumed.`,
  }),
  'session.stop_clear_requested': (data) => ({
    subject: `Please clear the stop of ${robot(data)}`,
    text: `The operator asks you to clear the remote stop of ${robot(data)}. Clear it once nothing is in danger; only you or an admin can.`,
  }),
  'session.pause_limit_soon': (data) => ({
    subject: `Paused session with ${robot(data)} ends soon`,
    text: `The session with ${robot(data)} has been paused for long. It ends at ${time(data.ends_at)} unless its operator resumes it before.`,
  }),
  'session.planned_end_soon': (data) => ({
    subject: `Planned end of the session with ${robot(data)} is near`,
    text: `The session with ${robot(data)} is planned to end at ${time(data.planned_end)}. It does not end by itself; the client can ask for more time.`,
  }),
  'session.rated': (data) => ({
    subject: `Your session with ${robot(data)} was rated`,
    text: `The client has rated your session with ${robot(data)}.`,
  }),
  'extension.requested': (data) => ({
    subject: `More time asked for with ${robot(data)}`,
    text: `The client asks you to go on for another ${minutes(data)} with ${robot(data)}. Please approve or decline.`,
  }),
  'extension.approved': (data) => ({
    subject: `More time granted with ${robot(data)}`,
    text: `The operator goes on for another ${minutes(data)} with ${robot(data)}.`,
  }),
  'extension.declined': (data) => ({
    subject: `No more time with ${robot(data)}`,
    text: `The operator has declined to go on for another ${minutes(data)} with ${robot(data)}.`,
  }),
  'robot.lost': (data) => ({
    subject: `Connection lost to ${robot(data)}`,
    text: `The connection to ${robot(data)} was lost in the middle of a session. The session is paused; it ends if the robot does not come back in time.`,
  }),
  'robot.back': (data) => ({
    subject: `Connection is back to ${robot(data)}`,
    text: `${sentence(robot(data))} is connected again. The session can go on.`,
  }),
  'certification.approved': (data) => ({
    subject: `You are certified for ${quoteName(data.robot_type)}`,
    text: `Your certification for robots of the type ${quoteName(data.robot_type)} was approved. You may drive them now.`,
  }),
  'certification.rejected': (data) => ({
    subject: `Certification for ${quoteName(data.robot_type)} not approved`,
    text: `Your certification for robots of the type ${quoteName(data.robot_type)} was not approved.`,
  }),
  'certification.revoked': (data) => ({
    subject: `Certification for ${quoteName(data.robot_type)} revoked`,
    text: `Your certification for robots of the type ${quoteName(data.robot_type)} was revoked. Open sessions go on; you cannot start new ones on robots that require it.`,
  }),
  'role.removed': (data) => ({
    subject: `You are no ${data.role === 'operator' ? 'operator' : 'client'} any more`,
    text: `An administrator has removed your role ${data.role === 'operator' ? '"operator"' : '"client"'}.`,
  }),
  'invoice.issued': (data) => ({
    subject: `Your invoice${month(data)}`,
    text: `Your invoice${month(data)} is there.`,
  }),
  'invoice.paid': (data) => ({
    subject: `Your invoice${month(data)} is paid`,
    text: `Thank you: your invoice${month(data)} is paid.`,
  }),
  'invoice.payment_failed': (data) => ({
    subject: `Your invoice${month(data)} could not be charged`,
    text: `Your invoice${month(data)} could not be charged. See your payment methods, or pay it on its own page.`,
  }),
  'invoice.voided': (data) => ({
    subject: `Your invoice${month(data)} was withdrawn`,
    text: `Your invoice${month(data)} was withdrawn. There is nothing to pay on it.`,
  }),
  'payout.paid': (data) => ({
    subject: `Your payout of ${amount(data)} is on its way`,
    text: `${amount(data)} of your earnings were transferred to your payout account.`,
  }),
  'payout.failed': (data) => ({
    subject: `Your payout of ${amount(data)} failed`,
    text: `The payment provider did not transfer ${amount(data)}. The amount is available for payout again.`,
  }),
  'payout.reversed': (data) => ({
    subject: `${amount(data)} of a payout were taken back`,
    text: `The payment provider took back ${amount(data)} of a payout. The amount is available for payout again.`,
  }),
  'robot.battery_low': (data) => ({
    subject: `Battery low: ${robot(data)}`,
    text: `The battery of ${robot(data)} is at ${percent(data)}.`,
  }),
  'webhook.disabled': (data) => ({
    subject: `Your webhook to ${quoteName(data.host)} was disabled`,
    text: `Your webhook to ${quoteName(data.host)} was disabled, ${
      data.reason === 'gone'
        ? 'because it answered that it is gone'
        : 'because nothing arrived there for days'
    }. No events are sent there any more until you enable it again.`,
  }),
}

/** What a notification says in a mail; one that a newer process has written says only that it is there. */
export function renderNotification(type: string, data: Data): NotificationText {
  const kind = Object.hasOwn(kinds, type) ? kinds[type as NotificationType] : undefined
  return kind?.(data) ?? { subject: 'You have a new notification', text: 'There is something new for you.' }
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
