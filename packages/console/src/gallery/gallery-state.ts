import type { ReactNode } from 'react'

type ColorScheme = 'light' | 'dark'

/** One state of a building block. Its address is `gallery.html#id`, and the picture of a test has the same name. */
export interface GalleryState {
  readonly id: string
  readonly label: string
  /** The colour schemes in which it looks different. Default: both. */
  readonly schemes?: readonly ColorScheme[]
  /** Whether its button opens a dialog, which a test photographs. */
  readonly opensDialog?: boolean
  /** A text that appears when the state is complete. */
  readonly readyText?: string
  readonly render: () => ReactNode
}

/** A building block of the console in its states. */
export interface GalleryBlock {
  readonly title: string
  /** When to use it, in one sentence. */
  readonly use: string
  readonly states: readonly GalleryState[]
}

/** The schemes of what lies on the picture, which is dark in both. */
export const ON_PICTURE: readonly ColorScheme[] = ['light']
