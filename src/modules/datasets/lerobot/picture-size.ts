/** The width and height of pictures, in pixels. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}
