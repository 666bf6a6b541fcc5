import type { ToolSpec } from './tool.ts'

/** The fields of a session that actions return. get_session returns all fields. */
const state = [
  'id',
  'status',
  'robot_id',
  'robot_name',
  'operator_name',
  'scheduled_for',
  'started_at',
  'ended_at',
  'planned_minutes',
  'planned_end',
  'duration_minutes',
  'pause_reason',
  'end_reason',
  'rating',
  'control',
]
const onSession = {
  route: 'PATCH /api/sessions/{id}',
  id: 'sessionId',
  selected: state,
  scopes: ['sessions', 'drive'],
} as const

/** Tools for sessions. No tool moves a robot, resumes a session or resets a stop: these actions are for humans. */
export const sessionTools: readonly ToolSpec[] = [
  {
    name: 'list_sessions',
    title: 'List sessions',
    route: 'GET /api/sessions',
    limit: 10,
    omitted: ['cursor'],
  },
  { name: 'get_session', title: 'Read a session', route: 'GET /api/sessions/{id}', id: 'sessionId' },
  {
    name: 'start_session',
    title: 'Start a session',
    route: 'POST /api/sessions',
    roles: ['operator', 'admin'],
    description:
      'Starts a session on an available robot now, as its operator. This does not move the robot: a human operates it in the console.',
    omitted: ['scheduledFor'],
    hints: { openWorld: true },
  },
  {
    name: 'schedule_session',
    title: 'Schedule a session',
    route: 'POST /api/sessions',
    roles: ['operator', 'admin'],
    description:
      'Schedules a session on a robot, at most 90 days ahead; it then starts automatically. Sessions of a robot or an ' +
      'operator must not overlap.',
    required: ['scheduledFor'],
    hints: { openWorld: true },
  },
  {
    ...onSession,
    name: 'pause_session',
    title: 'Pause a session',
    description:
      'Pauses an ACTIVE session of yours, or any as an admin. Only its operator can resume it, in the console.',
    fixed: { action: 'pause' },
    hints: { openWorld: true },
  },
  {
    ...onSession,
    name: 'end_session',
    title: 'End a session',
    description:
      'Ends an ACTIVE or PAUSED session of yours, or any as an admin, and settles its cost. An ended session cannot be resumed.',
    fixed: { action: 'end' },
    hints: { destructive: true, openWorld: true },
  },
  {
    ...onSession,
    name: 'cancel_session',
    title: 'Cancel a scheduled session',
    description: 'Cancels a PENDING session of yours.',
    fixed: { action: 'cancel' },
    hints: { destructive: true, openWorld: true },
  },
  {
    ...onSession,
    name: 'stop_robot',
    title: 'Remote stop',
    description:
      'Stops the robot of an open session at once and keeps it stopped. Name its session or the robot. Only a human ' +
      'resets the stop, in the console. It does not replace the emergency stop device of the machine.',
    acceptsRobot: true,
    scopes: [],
    fixed: { action: 'emergency_stop' },
    // Not marked as destructive: a client must not ask for confirmation before a stop.
    hints: { idempotent: true, openWorld: true },
  },
  {
    name: 'extend_session',
    title: 'Request an extension',
    route: 'POST /api/sessions/{id}/extend',
    id: 'sessionId',
    roles: ['client'],
    hints: { openWorld: true },
  },
  {
    ...onSession,
    name: 'approve_extension',
    title: 'Approve an extension',
    roles: ['operator'],
    scopes: ['drive'],
    description: 'Approves the extension that the client of your session requested.',
    fixed: { action: 'approve_extension' },
    omitted: ['reason'],
    hints: { openWorld: true },
  },
  {
    ...onSession,
    name: 'decline_extension',
    title: 'Decline an extension',
    roles: ['operator'],
    scopes: ['drive'],
    description: 'Declines the extension that the client of your session requested.',
    fixed: { action: 'decline_extension' },
    hints: { openWorld: true },
  },
  {
    name: 'rate_session',
    title: 'Rate a session',
    route: 'POST /api/sessions/{id}/rate',
    id: 'sessionId',
    selected: state,
    hints: { openWorld: true },
  },
  {
    name: 'list_session_events',
    title: 'Read the log of a session',
    route: 'GET /api/sessions/{id}/events',
    id: 'sessionId',
    limit: 20,
  },
  {
    name: 'list_messages',
    title: 'Read the chat of a session',
    route: 'GET /api/sessions/{id}/messages',
    id: 'sessionId',
    limit: 20,
  },
  {
    name: 'send_message',
    title: 'Send a chat message',
    route: 'POST /api/sessions/{id}/messages',
    id: 'sessionId',
    description: 'Sends a chat message to the other side of the session, in the name of your user.',
    omitted: ['clientMessageId'],
    hints: { openWorld: true },
  },
]
