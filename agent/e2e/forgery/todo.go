package forgery

func windows() []Case   { return nil }
func checks() []Case    { return nil }
func stops() []Case     { return nil }
func strangers() []Case { return nil }
func platform() []Case  { return nil }
