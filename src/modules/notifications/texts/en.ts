import { type PlatformReason, reasonTexts } from '@wheelhouse/protocol'
import {
  type Data,
  daysOf,
  eurosOf,
  type MailTexts,
  minutesOf,
  monthOf,
  percentOf,
  plainName,
  rowsOf,
  utcTime,
} from './text-parts.ts'

const quote = (name: unknown) => `"${plainName(name)}"`
const robot = ({ robot_name }: Data) => `robot ${quote(robot_name)}`
const amount = (data: Data) => `${eurosOf(data).toFixed(2)} EUR`
const time = (value: unknown) => utcTime(value) ?? 'that time'
const month = (data: Data) => (monthOf(data) ? ` for ${monthOf(data)}` : '')
const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Formats the platform's reason as the end of a sentence. A mail never contains reasons that participants wrote. */
function formatReason({ reason }: Data): string {
  const isCode = typeof reason === 'string' && Object.hasOwn(reasonTexts, reason)
  const why = isCode ? reasonTexts[reason as PlatformReason] : ''
  return why && `: ${why}`
}

const kinds: MailTexts['kinds'] = {
  'session.scheduled': (data) => ({
    subject: `Session scheduled with ${robot(data)}`,
    text: `A session with ${robot(data)} was scheduled.`,
  }),
  'session.started': (data) => ({
    subject: `Session started with ${robot(data)}`,
    text: `An operator has taken over ${robot(data)}.`,
  }),
  'session.paused': (data) => ({
    subject: `Session paused with ${robot(data)}`,
    text: `The session with ${robot(data)} is paused${formatReason(data)}. The robot is halted.`,
  }),
  'session.resumed': (data) => ({
    subject: `Session resumed with ${robot(data)}`,
    text: `The session with ${robot(data)} was resumed.`,
  }),
  'session.ended': (data) => ({
    subject: `Session ended with ${robot(data)}`,
    text: `The session with ${robot(data)} has ended${formatReason(data)}.`,
  }),
  'session.cancelled': (data) => ({
    subject: `Session cancelled with ${robot(data)}`,
    text: `The scheduled session with ${robot(data)} was cancelled${formatReason(data)}.`,
  }),
  'session.stopped': (data) => ({
    subject: `REMOTE STOP of ${robot(data)}`,
    text: `The remote stop of ${robot(data)} was requested. The robot is halted, and the session is paused until the stop is cleared.`,
  }),
  'session.stop_cleared': (data) => ({
    subject: `Remote stop of ${robot(data)} cleared`,
    text: `The remote stop of ${robot(data)} was cleared. The session is paused and can be resumed.`,
  }),
  'session.stop_clear_requested': (data) => ({
    subject: `Please clear the stop of ${robot(data)}`,
    text: `The operator asks you to clear the remote stop of ${robot(data)}. Clear it once the robot can move safely. Only you or an admin can clear it.`,
  }),
  'session.pause_limit_soon': (data) => ({
    subject: `Paused session with ${robot(data)} ends soon`,
    text: `The session with ${robot(data)} has been paused for a long time. It ends at ${time(data.ends_at)} unless the operator resumes it before.`,
  }),
  'session.planned_end_soon': (data) => ({
    subject: `Planned end of the session with ${robot(data)} is near`,
    text: `The session with ${robot(data)} is scheduled to end at ${time(data.planned_end)}. It does not end automatically. The client can request an extension.`,
  }),
  'session.rated': (data) => ({
    subject: `Your session with ${robot(data)} was rated`,
    text: `The client has rated your session with ${robot(data)}.`,
  }),
  'extension.requested': (data) => ({
    subject: `Extension requested for the session with ${robot(data)}`,
    text: `The client requests another ${minutesOf(data)} minutes with ${robot(data)}. Approve or decline the request.`,
  }),
  'extension.approved': (data) => ({
    subject: `Extension approved for the session with ${robot(data)}`,
    text: `The operator has approved another ${minutesOf(data)} minutes with ${robot(data)}.`,
  }),
  'extension.declined': (data) => ({
    subject: `Extension declined for the session with ${robot(data)}`,
    text: `The operator has declined another ${minutesOf(data)} minutes with ${robot(data)}.`,
  }),
  'robot.lost': (data) => ({
    subject: `Connection lost to ${robot(data)}`,
    text: `The connection to ${robot(data)} was lost during a session. The session is paused. It ends if the robot does not reconnect in time.`,
  }),
  'robot.back': (data) => ({
    subject: `Connection restored to ${robot(data)}`,
    text: `${capitalize(robot(data))} is connected again. The session can be resumed.`,
  }),
  'operator.back': (data) => ({
    subject: `The operator of ${robot(data)} is back`,
    text: `The operator is connected again to the session with ${robot(data)}. The session is still paused.`,
  }),
  'control.transferred': (data) => ({
    subject: `Control of ${robot(data)} changed hands`,
    text: `Control of ${robot(data)} changed hands. The robot was halted for it.`,
  }),
  'control.requested': (data) => ({
    subject: `A question about control of ${robot(data)}`,
    text: `Someone offers you control of ${robot(data)}, or asks you for it. Open the session to answer.`,
  }),
  'recording.paused': (data) => ({
    subject: `Session with ${robot(data)} is not recorded`,
    text: `The session with ${robot(data)} is not recorded at the moment. The session itself continues. The recording continues by itself as soon as possible.`,
  }),
  'dataset_export.ready': (data) => ({
    subject: `Your dataset ${quote(data.name)} is ready`,
    text: `The export of your dataset ${quote(data.name)} has finished. You can download it and open it with LeRobot.`,
  }),
  'dataset_export.failed': (data) => ({
    subject: `Your dataset ${quote(data.name)} could not be exported`,
    text: `The export of your dataset ${quote(data.name)} has failed. The console shows the reason.`,
  }),
  'certification.approved': (data) => ({
    subject: `You are certified for ${quote(data.robot_type)}`,
    text: `Your certification for robots of the type ${quote(data.robot_type)} was approved. You can operate them now.`,
  }),
  'certification.rejected': (data) => ({
    subject: `Certification for ${quote(data.robot_type)} not approved`,
    text: `Your certification for robots of the type ${quote(data.robot_type)} was not approved.`,
  }),
  'certification.revoked': (data) => ({
    subject: `Certification for ${quote(data.robot_type)} revoked`,
    text: `Your certification for robots of the type ${quote(data.robot_type)} was revoked. Open sessions continue. You cannot start new sessions on robots that require this certification.`,
  }),
  'role.removed': (data) => ({
    subject: `Your role ${data.role === 'operator' ? '"operator"' : '"client"'} was removed`,
    text: `An administrator has removed your role ${data.role === 'operator' ? '"operator"' : '"client"'}.`,
  }),
  'account.suspended': () => ({
    subject: 'Your account is suspended',
    text: 'An administrator has suspended your account. The console shows the reason. Until the suspension ends you cannot use the platform, your robots are not available, and you receive only mails about your account and about money.',
  }),
  'account.restored': () => ({
    subject: 'Your account is no longer suspended',
    text: 'An administrator has ended the suspension of your account. You can use the platform again.',
  }),
  'invoice.issued': (data) => ({
    subject: `Your invoice${month(data)}`,
    text: `Your invoice${month(data)} is available.`,
  }),
  'invoice.paid': (data) => ({
    subject: `Your invoice${month(data)} is paid`,
    text: `Thank you: your invoice${month(data)} is paid.`,
  }),
  'invoice.payment_failed': (data) => ({
    subject: `Your invoice${month(data)} could not be charged`,
    text: `Your invoice${month(data)} could not be charged. Check your payment methods, or pay the invoice on its payment page.`,
  }),
  'invoice.voided': (data) => ({
    subject: `Your invoice${month(data)} was voided`,
    text: `Your invoice${month(data)} was voided. You do not have to pay it.`,
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
    subject: `${amount(data)} of a payout were reversed`,
    text: `The payment provider reversed ${amount(data)} of a payout. The amount is available for payout again.`,
  }),
  'export.ready': (data) => ({
    subject: 'Your export of sessions is ready',
    text: `Your export of ${rowsOf(data)} sessions is ready. Download it within 24 hours.`,
  }),
  'export.failed': () => ({
    subject: 'Your export of sessions failed',
    text: 'Your export of sessions could not be completed. Its page in the console shows the error.',
  }),
  'robot.battery_low': (data) => ({
    subject: `Battery low: ${robot(data)}`,
    text: `The battery of ${robot(data)} is at ${percentOf(data)} %.`,
  }),
  'api_key.unused': (data) => ({
    subject: `The API key ${quote(data.name)} is not used`,
    text: `Nobody has used the API key ${quote(data.name)}${
      data.service_account === undefined ? '' : ` of the service account ${quote(data.service_account)}`
    } for ${daysOf(data)} days. Revoke it if nobody needs it any more.`,
  }),
  'webhook.disabled': (data) => ({
    subject: `Your webhook to ${quote(data.host)} was disabled`,
    text: `Your webhook to ${quote(data.host)} was disabled, ${
      data.reason === 'gone'
        ? 'because it answered 410 Gone'
        : 'because all deliveries failed for several days'
    }. It receives no events until you enable it again.`,
  }),
}

/** The texts of mails in English. */
export const en: MailTexts = {
  kinds,
  unknown: { subject: 'You have a new notification', text: 'Open Wheelhouse to read it.' },
  why: 'You receive this mail because you have not read these notifications at Wheelhouse yet.',
  unsubscribe: 'Unsubscribe from mails about notifications',
  others: (count) => `and ${count} more`,
  older: (count) => `And ${count} older notifications`,
  openConsole: 'Open console',
  openSession: 'Open session',
  openExport: 'Open export',
}
