import type { ToolSpec } from './tool.ts'

/** What a session looks like after something was done to it; the rest is for get_session. */
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
const onSession = { route: 'PATCH /api/sessions/{id}', id: 'sessionId', selected: state } as const

/** Sessions. Nothing here moves a robot, and nothing lifts a stop or a pause: that is for people. */
export const sessionTools: readonly ToolSpec[] = [
  { name: 'list_sessions', title: 'List sessions', route: 'GET /api/sessions', limit: 10 },
  { name: 'get_session', title: 'Read a session', route: 'GET /api/sessions/{id}', id: 'sessionId' },
  {
    name: 'start_session',
    title: 'Start a session',
    route: 'POST /api/sessions',
    roles: ['operator', 'admin'],
    description:
      'Starts a session on an available robot now, as its operator. The robot does not move by it: a person drives it, in the console.',
    omitted: ['scheduledFor'],
    hints: { openWorld: true },
  },
  {
    name: 'schedule_session',
    title: 'Schedule a session',
    route: 'POST /api/sessions',
    roles: ['operator', 'admin'],
    description:
      'Schedules a session on a robot for a future time, at most 90 days ahead; it starts by itself then. Two sessions ' +
      'of one robot or one operator cannot be planned for the same time.',
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
      'Ends an ACTIVE or PAUSED session of yours, or any as an admin, for good, and settles what it cost.',
    fixed: { action: 'end' },
    hints: { destructive: true, openWorld: true },
  },
  {
    ...onSession,
    name: 'cancel_session',
    title: 'Cancel a scheduled session',
    description: 'Cancels a PENDING session of yours, before it has started.',
    fixed: { action: 'cancel' },
    hints: { destructive: true, openWorld: true },
  },
  {
    ...onSession,
    name: 'stop_robot',
    title: 'Emergency stop',
    description:
      'Stops the robot of an open session at once and keeps it stopped, by its session or by the robot. Only a person ' +
      'lets the robot go again, in the console.',
    acceptsRobot: true,
    fixed: { action: 'emergency_stop' },
    // Not destructive: no client should put a question before a stop.
    hints: { idempotent: true, openWorld: true },
  },
  {
    name: 'extend_session',
    title: 'Ask for an extension',
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
    description: 'Approves the extension that the client of your session has asked for.',
    fixed: { action: 'approve_extension' },
    omitted: ['reason'],
    hints: { openWorld: true },
  },
  {
    ...onSession,
    name: 'decline_extension',
    title: 'Decline an extension',
    roles: ['operator'],
    description: 'Declines the extension that the client of your session has asked for.',
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
    title: 'Write in the chat of a session',
    route: 'POST /api/sessions/{id}/messages',
    id: 'sessionId',
    description: 'Sends a chat message to the other side of the session, in the name of your user.',
    omitted: ['clientMessageId'],
    hints: { openWorld: true },
  },
]
