import type { Plugin } from 'vitest/config'
import type { TestSpecification } from 'vitest/node'

const byProject = (files: readonly TestSpecification[]) =>
  [...Map.groupBy(files, ({ project }) => project.name).values()].flat()

/**
 * Keeps the files of a project together, because only they share workers. Vitest orders them: the slowest of the last run
 * or the largest first, or at random (`--sequence.shuffle.files`).
 */
export function oneProjectAtATime(): Plugin {
  let configured = false
  return {
    name: 'one-project-at-a-time',
    configureVitest({ vitest }) {
      if (configured) return // vitest calls it for each project
      configured = true
      const { sequence } = vitest.config
      const Sequencer = sequence.sequencer
      // Vitest prints the seed only for its own random sequencer.
      if (Sequencer.name === 'RandomSequencer')
        console.log(`Files in random order. --sequence.seed=${sequence.seed} repeats it.`)
      sequence.sequencer = class {
        readonly #sequencer = new Sequencer(vitest)
        shard = (files: TestSpecification[]) => this.#sequencer.shard(files)
        sort = async (files: TestSpecification[]) => byProject(await this.#sequencer.sort(files))
      }
    },
  }
}
