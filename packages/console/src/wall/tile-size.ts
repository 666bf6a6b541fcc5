import { createPersisted } from '../base/persisted.ts'
import type { TileSize } from './sections.ts'

/** The size of the tiles in this browser. `M`: as large as possible. */
export const tileSize = createPersisted<TileSize>('wheelhouse-wall-size', 'M', (text) =>
  text === 'S' || text === 'L' ? text : 'M',
)
