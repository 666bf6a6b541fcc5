import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { demoLimits } from '@wheelhouse/sdk'
import { z } from 'zod'
import type { Platform } from '../../src/app/container.ts'
import { AppError } from '../../src/core/errors/errors.ts'
import { wholeScope } from '../../src/core/permissions/authorization.ts'
import { DEV_ISSUER_NAME } from '../../src/modules/identity/oidc/provider-names.ts'
import { demoAccounts } from './accounts.ts'
import { armControlSchema, armTelemetrySchema } from './arm/simulated-arm.ts'
import { cameraPath } from './camera/camera-pages.ts'
import { CAMERA_HEIGHT_M, FIELD_OF_VIEW_RAD, HORIZON_SHARE } from './camera/renderer.ts'

const ROBOT_TYPE = 'diffdrive-demo'
const driveNotes = 'A simulated differential-drive robot that runs in the server.'
const armNotes = 'A simulated arm with six joints and a gripper that runs in the server.'
/** The robots of the demo, the arm last. */
const demoRobots = [
  { name: 'Ronja', hardware_id: 'demo-board-1', robot_type: ROBOT_TYPE, notes: driveNotes },
  { name: 'Bolt', hardware_id: 'demo-board-2', robot_type: ROBOT_TYPE, notes: driveNotes },
  { name: 'Arva', hardware_id: 'demo-board-3', robot_type: 'arm-demo', notes: armNotes },
] as const
const [ownerAccount, operatorAccount, adminAccount] = demoAccounts

const StoredKeys = z.record(z.string(), z.string())

export interface Demo {
  readonly keys: { readonly owner: string; readonly operator: string; readonly admin: string }
  readonly robots: readonly {
    readonly id: string
    readonly name: string
    readonly hardwareId: string
    readonly token: string
    readonly isArm: boolean
  }[]
}

/**
 * Creates the demo's accounts, keys and robots, or finds those of an earlier start. It uses the same services as any
 * request. `DATA_DIR/demo-keys.json` stores the keys, because the database contains only their hashes.
 * @param cameras the origin that serves the robots' cameras, if any
 */
export async function seedDemo(platform: Platform, cameras?: string): Promise<Demo> {
  const {
    identity: { users },
    operators: { certifications },
  } = platform
  const owner = await findOrCreateUser(platform, ownerAccount)
  const operator = await findOrCreateUser(platform, operatorAccount)
  const admin = await findOrCreateUser(platform, adminAccount)
  await users.updateProfile(owner.id, { role: 'client' })
  await users.updateProfile(operator.id, { role: 'operator' })
  await completeProfiles(platform, owner.id, operator.id)
  if (!(await certifications.certifiedTypes(operator.id)).includes(ROBOT_TYPE)) {
    const request = await certifications.request(operator.id, { robot_type: ROBOT_TYPE })
    await certifications.decide(admin.id, request.id, { status: 'APPROVED' })
  }
  const keys = {
    owner: await ensureApiKey(platform, owner.id, 'owner'),
    operator: await ensureApiKey(platform, operator.id, 'operator'),
    admin: await ensureApiKey(platform, admin.id, 'admin'),
  }
  const robots = demoRobots.map((robot) => ensureRobot(platform, owner.id, robot, cameras))
  return { keys, robots: await Promise.all(robots) }
}

/** Returns the user that a sign-in with this account at the built-in provider would create. */
async function findOrCreateUser({ identity: { users } }: Platform, account: (typeof demoAccounts)[number]) {
  return await users.forClaims({
    issuer: DEV_ISSUER_NAME,
    subject: account.email,
    email: account.email,
    emailVerified: true,
    name: account.name,
    expiresAt: new Date(),
  })
}

/** Completes both accounts, unless a user has already completed them. */
async function completeProfiles(
  { identity: { users }, clients: { clientProfiles }, operators: { operatorProfiles, schedules } }: Platform,
  ownerId: string,
  operatorId: string,
): Promise<void> {
  if ((await users.account(ownerId)).contact_email === null) {
    await clientProfiles.update(ownerId, { company_name: 'Demo Robots', contact_email: ownerAccount.email })
  }
  if ((await users.account(operatorId)).timezone === null) {
    const wholeWeek = [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({ weekday, start: '00:00', end: '24:00' }))
    await operatorProfiles.save(operatorId, { headline: 'Drives everything on wheels', timezone: 'UTC' })
    await schedules.replace(operatorId, { timezone: 'UTC', slots: wholeWeek })
  }
}

async function ensureApiKey(
  { identity: { apiKeys }, core: { config } }: Platform,
  userId: string,
  name: string,
): Promise<string> {
  const path = join(config.dataDir, 'demo-keys.json')
  const stored = existsSync(path) ? StoredKeys.parse(JSON.parse(readFileSync(path, 'utf8'))) : {}
  const known = stored[name]
  if (known && (await userIdOfKey(apiKeys, known)) === userId) return known
  const created = await apiKeys.create(userId, userId, { name: `demo ${name}` })
  writeFileSync(path, JSON.stringify({ ...stored, [name]: created.key }), { mode: 0o600 })
  return created.key
}

async function userIdOfKey(
  apiKeys: Platform['identity']['apiKeys'],
  key: string,
): Promise<string | undefined> {
  try {
    return (await apiKeys.resolveKey(key)).userId
  } catch (cause) {
    if (cause instanceof AppError && cause.status === 401) return undefined // a key of another database
    throw cause
  }
}

/** Height of a picture as a share of its width. */
const PICTURE_ASPECT = 9 / 16

const number = (unit: string) => ({ type: 'number', 'x-unit': unit }) as const

/** What the simulated robots on wheels send, and how their cameras look at the floor. */
const telemetrySchema = {
  type: 'object',
  properties: {
    pose: {
      type: 'object',
      'x-kind': 'pose',
      title: 'Pose',
      properties: { x_m: number('m'), y_m: number('m'), heading_rad: number('rad') },
    },
    velocity: {
      type: 'object',
      'x-kind': 'velocity',
      title: 'Speed',
      properties: { linear_mps: number('m/s'), angular_radps: number('rad/s') },
    },
    battery: { type: 'number', minimum: 0, maximum: 1, 'x-kind': 'battery', title: 'Battery' },
    nearest_obstacle: {
      type: 'object',
      'x-kind': 'obstacles',
      title: 'Nearest obstacle',
      properties: { distance_m: number('m'), bearing_rad: number('rad') },
    },
    standing: { type: 'boolean', title: 'Stands still' },
    bumped: { type: 'boolean', title: 'Has bumped' },
  },
  'x-camera-view': {
    height_m: CAMERA_HEIGHT_M,
    // The picture is shifted by as much as a camera that points down would turn it.
    pitch_rad: Math.atan((1 - 2 * HORIZON_SHARE) * PICTURE_ASPECT * Math.tan(FIELD_OF_VIEW_RAD / 2)),
    horizontal_fov_rad: FIELD_OF_VIEW_RAD,
    robot_width_m: 2 * demoLimits.radiusM,
  },
} as const

async function ensureRobot(
  { core: { db }, robots: { robots, robotTokens } }: Platform,
  ownerId: string,
  spec: (typeof demoRobots)[number],
  cameras: string | undefined,
) {
  const isArm = spec.robot_type === 'arm-demo'
  const known = await db
    .selectFrom('robots')
    .selectAll()
    .where('hardware_id', '=', spec.hardware_id)
    .where('owner_id', '=', ownerId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  const row =
    known ??
    (await robots.register(wholeScope(ownerId), {
      ...spec,
      stream_url: cameras ? cameras + cameraPath(spec.hardware_id) : '',
      // *Drive the demo robot* chooses one with the tag `demo`.
      tags: isArm ? ['arm', 'simulated'] : ['demo', 'simulated'],
      require_certification: false,
      latency_budget_ms: 400,
      video_limit_ms: 700,
    }))
  if (known && cameras) await correctStream(robots, known, cameras)
  const schemas = isArm
    ? { telemetry_schema: armTelemetrySchema, control_schema: armControlSchema, strict_control: true }
    : { telemetry_schema: telemetrySchema }
  if (!known) await robots.update(wholeScope(ownerId), row.id, schemas)
  const token = robotTokens.issue({ robotId: row.id, tokenVersion: row.token_version })
  return { id: row.id, name: row.name, hardwareId: spec.hardware_id, token, isArm }
}

/** Updates the camera's URL, since port or host may have changed. Keeps a video that the owner has set. */
async function correctStream(
  robots: Platform['robots']['robots'],
  known: { id: string; owner_id: string; hardware_id: string; stream_url: string },
  cameras: string,
): Promise<void> {
  const path = cameraPath(known.hardware_id)
  const isOurs = known.stream_url === '' || known.stream_url.endsWith(path)
  if (!isOurs || known.stream_url === cameras + path) return
  await robots.update(wholeScope(known.owner_id), known.id, { stream_url: cameras + path })
}
