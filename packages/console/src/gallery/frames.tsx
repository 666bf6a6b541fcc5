import type { CSSProperties, ReactNode } from 'react'
import styles from './gallery.module.css'

/** Renders a component of a page, as wide as a column. */
export const Column = ({ children }: { children: ReactNode }) => (
  <div className={styles.surface}>{children}</div>
)

export const shown = (id: string, label: string, content: ReactNode, more?: Options): GalleryState => ({
  id,
  label,
  render: () => content,
  ...more,
})

/** Returns a state of a component that is as wide as a column. */
export const inColumn = (id: string, label: string, content: ReactNode): GalleryState =>
  shown(id, label, <Column>{content}</Column>)

export const block = (title: string, use: string, ...states: readonly GalleryState[]): GalleryBlock => ({
  title,
  use,
  states,
})

/** Replaces the picture of a camera, with what lies on it. */
export const FakePicture = ({ children, width = 320 }: { children?: ReactNode; width?: number | string }) => (
  <div className={styles.picture} style={{ width, aspectRatio: '16 / 9' }}>
    {children}
  </div>
)

export const PageFrame = ({ height, children }: { height: number; children: ReactNode }) => (
  <div
    className={styles.window}
    style={{ width: 640, height, '--stop-side': '0.5rem', '--stop-bottom': '0.5rem' } as CSSProperties}
  >
    {children}
  </div>
)

type ColorScheme = 'light' | 'dark'

/** One state of a building block. Its address is `gallery.html#id`, and the picture of a test has the same name. */
export interface GalleryState {
  readonly id: string
  readonly label: string
  /** The colour schemes in which it looks different. Default: both. */
  readonly schemes?: readonly ColorScheme[]
  /** Whether its button opens a dialog, which a test photographs. */
  readonly opensDialog?: boolean
  readonly readyText?: string
  readonly render: () => ReactNode
}

type Options = Pick<GalleryState, 'schemes' | 'opensDialog' | 'readyText'>

export interface GalleryBlock {
  readonly title: string
  readonly use: string
  readonly states: readonly GalleryState[]
}

/** What lies on the picture is dark in both schemes. */
export const ON_PICTURE: Options = { schemes: ['light'] }
