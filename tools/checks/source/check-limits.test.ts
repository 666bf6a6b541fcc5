import { expect, test } from 'vitest'
import { checkLimits, LIMITS_PAGE, limitsPage } from './check-limits.ts'
import { Repository } from './repository.ts'

const files = {
  'hub/server.ts': `
import { MAX_SESSIONS } from '@wheelhouse/protocol'
/** How long a connection may take. A second sentence. */
const OPEN_LIMIT_MS = 20 * SECOND
const SECOND = 1_000
/** Bytes of a
 * message. */
export const MAX_BYTES = 64 * 1024
/** Watched sessions. */
const MAX_WATCHED = MAX_SESSIONS / 2
/** Commands of a socket. */
const COMMAND_LIMIT = { burst: 60, refillMs: 2_000 }
/** No limit. */
const STEPS = 20
const MAX_UNEXPLAINED = 3
`,
  'hub/server.test.ts': '/** Runs. */\nconst MAX_RUNS = 3\n',
  'packages/protocol/hub.ts': '/** Sessions. */\nexport const MAX_SESSIONS = 1_000\n',
  'src/core/log.ts': 'const MAX_SESSIONS = 3\n',
}

test('limits are the documented constants with the name of a limit, with their units', () => {
  const rows = limitsPage(Repository.of(files))
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  expect(rows).toEqual([
    '| `OPEN_LIMIT_MS` | 20 s | How long a connection may take. | `server.ts` |',
    '| `MAX_BYTES` | 64 KiB | Bytes of a message. | `server.ts` |',
    '| `MAX_WATCHED` | 500 | Watched sessions. | `server.ts` |',
    '| `COMMAND_LIMIT` | `burst` 60, `refillMs` 2 s | Commands of a socket. | `server.ts` |',
    '| `MAX_SESSIONS` | 1,000 | Sessions. | `hub.ts` |',
  ])
})

test('the page must match the code', () => {
  const check = (page: string) => checkLimits(Repository.of({ ...files, [LIMITS_PAGE]: page }))
  expect(check(limitsPage(Repository.of(files)))).toEqual([])
  expect(check('').map(({ message }) => message)).toEqual(['differs from the code: run npm run limits'])
})
