// Runs before `npm run check` and `npm run format`: restores the program of Biome, 65 MB, which nothing else needs.
import { restoreFile } from './restore-package.mjs'

await restoreFile({ label: 'Biome', scope: '@biomejs', prefix: 'cli-', files: ['biome', 'biome.exe'] })
