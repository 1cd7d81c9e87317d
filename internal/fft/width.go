package fft

// width returns how many lines a tile has.
func width[F Float]() int { return 4 }
