import type { Secrets } from '../../core/secrets.ts'

const PURPOSE = 'robot-token'

export interface RobotIdentity {
  readonly robotId: string
  readonly tokenVersion: number
}

/**
 * Robot tokens: `<robot id>.<token version>.<signature>`. The signature alone decides whether an upgrade is
 * accepted, without the database; whether the version is still the current one is looked up right after.
 */
export function createRobotTokens(secrets: Secrets) {
  return {
    issue({ robotId, tokenVersion }: RobotIdentity): string {
      const claim = `${robotId}.${tokenVersion}`
      return `${claim}.${secrets.sign(PURPOSE, claim)}`
    },
    /** The identity a token proves, or undefined when it proves none. */
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
