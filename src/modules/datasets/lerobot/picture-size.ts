/** Width and height of a picture in pixels. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}
