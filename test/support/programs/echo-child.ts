import { createLog } from '../../../src/core/log.ts'
import { connectToParent } from '../../../src/core/process/child-link.ts'
import { createGuard } from '../../../src/core/process/guard.ts'

// A child process that sends back what it receives.

export interface Echo {
  readonly type: 'echo'
  readonly text: string
}

const guard = createGuard({ role: 'echo', log: createLog({ level: 'warn', pretty: false }), count: () => {} })
const post: (message: Echo) => void = connectToParent<Echo, Echo>({
  name: 'echo',
  guard,
  onMessage: (message) => post(message),
})
