import type { Secrets } from '../../core/secrets.ts'

const PURPOSE = 'robot-token'

export interface RobotIdentity {
  readonly robotId: string
  readonly tokenVersion: number
}

/**
 * Issues and verifies robot tokens: `<robot id>.<token version>.<signature>`. The gateway accepts an upgrade by the
 * signature, without the database. It checks the version against the database right after.
 */
export function createRobotTokens(secrets: Secrets) {
  return {
    issue({ robotId, tokenVersion }: RobotIdentity): string {
      const claim = `${robotId}.${tokenVersion}`
      return `${claim}.${secrets.sign(PURPOSE, claim)}`
    },
    /** Returns the identity that a token proves; undefined when the token is malformed or its signature is wrong. */
    read(token: string): RobotIdentity | undefined {
      const match = /^([0-9a-f-]{36})\.(\d{1,9})\.([\w-]{43})$/.exec(token)
      if (!match) return undefined
      const [, robotId, version, signature] = match as unknown as [string, string, string, string]
      if (!secrets.verify(PURPOSE, `${robotId}.${version}`, signature)) return undefined
      return { robotId, tokenVersion: Number(version) }
    },
  }
}
export type RobotTokens = ReturnType<typeof createRobotTokens>
