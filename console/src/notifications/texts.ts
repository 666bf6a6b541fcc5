import type { NotificationEvent } from '@wheelhouse/protocol'

const titles: Record<string, string> = {
  'session.scheduled': 'A session was scheduled',
  'session.started': 'A session has started',
  'session.paused': 'A session is paused',
  'session.resumed': 'A session goes on',
  'session.ended': 'A session has ended',
  'session.cancelled': 'A session was cancelled',
  'session.stopped': 'Emergency stop',
  'session.stop_cleared': 'The emergency stop was cleared',
  'session.pause_limit_soon': 'A paused session ends soon',
  'session.planned_end_soon': 'The planned end of a session is near',
  'session.rated': 'You were rated',
  'extension.requested': 'More time is asked for',
  'extension.approved': 'More time was granted',
  'extension.declined': 'More time was declined',
  'robot.lost': 'The robot lost its connection',
  'robot.back': 'The robot is back',
  'robot.battery_low': 'The battery of a robot is low',
  'certification.approved': 'You are certified',
  'certification.rejected': 'Your certification was declined',
  'invoice.issued': 'An invoice was issued',
  'payout.paid': 'A payout is on its way',
  'payout.failed': 'A payout failed',
  'payout.reversed': 'A payout was reversed',
  'webhook.disabled': 'A webhook was switched off',
}

/**
 * A notification in words: what happened, to which robot, and in which session, if in one. Kinds that are new here are
 * named as they come.
 */
export function textOf({ type, data }: Pick<NotificationEvent, 'type' | 'data'>) {
  const about = [data.robot_name, data.robot_type, data.host, data.reason].filter(
    (text) => typeof text === 'string',
  )
  const sessionId = typeof data.session_id === 'string' ? data.session_id : undefined
  return { title: titles[type] ?? type.replaceAll(/[._]/g, ' '), detail: about.join(' · '), sessionId }
}
