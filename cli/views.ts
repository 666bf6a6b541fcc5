import { type Piece, painted, type Style } from './text.ts'

const STYLES: Readonly<Record<string, Style>> = {
  AVAILABLE: 'green',
  ACTIVE: 'green',
  IN_SESSION: 'cyan',
  PAUSED: 'yellow',
  PENDING: 'cyan',
  OFFLINE: 'dim',
  COMPLETED: 'dim',
  CANCELLED: 'dim',
}

/** A status in its colour. */
export const statusPiece = (status: string): Piece => painted(STYLES[status] ?? 'reset', status)
