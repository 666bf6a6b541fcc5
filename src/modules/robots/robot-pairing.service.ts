import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { AppError, conflict, notFound } from '../../core/errors/errors.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { ownedBy, type Scope } from '../../core/permissions/authorization.ts'
import { generatePairingCode, hashPairingCode } from './pairing-code.ts'
import { PAIRING_CODE_MINUTES } from './robot-pairing.schema.ts'
import type { RobotTokens } from './robot-token.ts'

const LIFETIME_MS = PAIRING_CODE_MINUTES * 60_000

/** Creates pairing codes, and exchanges them for the tokens of their robots. */
export function createRobotPairings(
  deps: Pick<CoreServices, 'transact' | 'now' | 'secrets'> & { readonly tokens: RobotTokens },
) {
  const { transact, now, secrets, tokens } = deps
  return {
    /**
     * Creates a code for a robot of the owner. It replaces the previous code.
     * @throws 404 when the robot does not exist or belongs to another user.
     */
    createCode: (scope: Scope, robotId: string): Promise<{ code: string; expiresAt: Date }> =>
      transact(async (tx) => {
        const at = now()
        const code = generatePairingCode()
        const expiresAt = new Date(at.getTime() + LIFETIME_MS)
        const fields = {
          code_hash: hashPairingCode(secrets, code),
          token_version: await tokenVersionOf(tx, scope, robotId),
          expires_at: expiresAt,
          used_at: null,
        }
        await tx.db
          .insertInto('robot_pairings')
          .values({ robot_id: robotId, ...fields })
          .onConflict((clash) => clash.column('robot_id').doUpdateSet(fields))
          .execute()
        await audit(tx, {
          at,
          organizationId: scope.organizationId,
          actorId: scope.actorId,
          credential: scope.credential,
          action: 'robot.pairing_code_created',
          subject: ['robot', robotId],
          data: { expires_at: expiresAt.toISOString() },
        })
        return { code, expiresAt }
      }),

    /**
     * Exchanges a code for the token of its robot. Exactly one of several concurrent exchanges succeeds.
     * @throws 404 for a code that is unknown, expired or invalidated by a new token; 409 for a used one.
     */
    exchange: (code: string): Promise<{ robotId: string; name: string; token: string }> =>
      transact(async (tx) => {
        const at = now()
        const codeHash = hashPairingCode(secrets, code)
        const used = await tx.db
          .updateTable('robot_pairings as pairing')
          .from('robots')
          .set({ used_at: at })
          .whereRef('robots.id', '=', 'pairing.robot_id')
          .whereRef('robots.token_version', '=', 'pairing.token_version')
          .where('robots.deleted_at', 'is', null)
          .where('pairing.code_hash', '=', codeHash)
          .where('pairing.used_at', 'is', null)
          .where('pairing.expires_at', '>', at)
          .returning(['robots.id', 'robots.name', 'robots.owner_id', 'robots.token_version'])
          .executeTakeFirst()
        if (!used) throw await refusal(tx, codeHash)
        await audit(tx, {
          at,
          organizationId: used.owner_id,
          actorId: undefined,
          action: 'robot.paired',
          subject: ['robot', used.id],
          data: { owner_id: used.owner_id },
        })
        const token = tokens.issue({ robotId: used.id, tokenVersion: used.token_version })
        return { robotId: used.id, name: used.name, token }
      }),
  }
}
export type RobotPairings = ReturnType<typeof createRobotPairings>

/** Returns the version of the robot's token. The lock makes a concurrent rotation wait, so that it invalidates the code. */
async function tokenVersionOf(tx: Tx, scope: Scope, robotId: string): Promise<number> {
  const robot = await tx.db
    .selectFrom('robots')
    .select('token_version')
    .where('id', '=', robotId)
    .where(ownedBy(scope))
    .where('deleted_at', 'is', null)
    .forShare()
    .executeTakeFirst()
  if (!robot) throw notFound('Robot')
  return robot.token_version
}

/** Returns why a code cannot be exchanged. For a used code the text warns that another program may have the token. */
async function refusal(tx: Tx, codeHash: string): Promise<AppError> {
  const known = await tx.db
    .selectFrom('robot_pairings')
    .select('used_at')
    .where('code_hash', '=', codeHash)
    .executeTakeFirst()
  if (known?.used_at)
    return conflict(
      'pairing_code_used',
      'This pairing code was used before. Create a new one. If you did not use it, replace the token of the robot.',
    )
  return new AppError(
    404,
    'pairing_code_invalid',
    'This pairing code is not valid: it is mistyped, has expired or was replaced. Create a new one.',
  )
}
