import type { NotificationType, SessionEventType } from './hub.ts'

/** Titles of session events, for notifications and lists. */
export const sessionEventTexts: Readonly<Record<SessionEventType, string>> = {
  'session.scheduled': 'A session was scheduled',
  'session.started': 'A session has started',
  'session.paused': 'A session is paused',
  'session.resumed': 'A session was resumed',
  'session.ended': 'A session has ended',
  'session.cancelled': 'A session was cancelled',
  'session.stopped': 'The robot was stopped',
  'session.stop_cleared': 'The stop was cleared',
  'session.stop_clear_requested': 'The operator asks you to clear the stop',
  'session.pause_limit_soon': 'A paused session ends soon',
  'session.planned_end_soon': 'The planned end of a session is near',
  'session.rated': 'You were rated',
  'extension.requested': 'An extension was requested',
  'extension.approved': 'An extension was approved',
  'extension.declined': 'An extension was declined',
  'robot.lost': 'The robot lost its connection',
  'robot.back': 'The robot reconnected',
  'operator.back': 'The operator reconnected',
  'control.transferred': 'Control of the robot changed hands',
  'control.requested': 'Someone asks about control of the robot',
  'control.request_closed': 'The question about control is settled',
  'recording.started': 'The session is recorded',
  'recording.paused': 'The session is not recorded',
  'recording.resumed': 'The recording continues',
  'recording.stopped': 'The session is no longer recorded',
  'episode.started': 'An episode has started',
  'episode.ended': 'An episode has ended',
  'episode.discarded': 'An episode was discarded',
  'chat.message': 'A message was sent',
}

const {
  'chat.message': _chat,
  'control.request_closed': _closed,
  'recording.started': _started,
  'recording.resumed': _resumed,
  'recording.stopped': _stopped,
  'episode.started': _episodeStarted,
  'episode.ended': _episodeEnded,
  'episode.discarded': _episodeDiscarded,
  ...sessionTexts
} = sessionEventTexts

/** Titles of all notification types. */
export const notificationTexts: Readonly<Record<NotificationType, string>> = {
  ...sessionTexts,
  'robot.battery_low': 'The battery of a robot is low',
  'certification.approved': 'You are certified',
  'certification.rejected': 'Your certification was rejected',
  'certification.revoked': 'Your certification was revoked',
  'role.removed': 'An administrator has removed one of your roles',
  'account.suspended': 'An administrator has suspended your account',
  'account.restored': 'Your account is no longer suspended',
  'api_key.unused': 'A key is not used',
  'invoice.issued': 'An invoice was issued',
  'invoice.paid': 'An invoice was paid',
  'invoice.payment_failed': 'An invoice could not be charged',
  'invoice.voided': 'An invoice was voided',
  'payout.paid': 'A payout is on its way',
  'payout.failed': 'A payout failed',
  'payout.reversed': 'A payout was reversed',
  'webhook.disabled': 'A webhook was disabled',
  'export.ready': 'Your export is ready',
  'export.failed': 'Your export failed',
  'dataset_export.ready': 'Your dataset is ready',
  'dataset_export.failed': 'Your dataset could not be exported',
}

/** Returns the title of an event; for a type that this version does not know, its name as words. */
export function eventTitle(type: string): string {
  const known: Readonly<Record<string, string>> = { ...sessionEventTexts, ...notificationTexts }
  return Object.hasOwn(known, type) ? (known[type] as string) : typeWords(type)
}

/** Returns a dotted name as words: `certification.approved` becomes `Certification approved`. */
export function typeWords(type: string): string {
  const spaced = type.replace(/[._]+/g, ' ').trim()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
