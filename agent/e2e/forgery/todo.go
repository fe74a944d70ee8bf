package forgery

func identities() []Case { return nil }
func people() []Case     { return nil }
func reviews() []Case    { return nil }
func trees() []Case      { return nil }
func windows() []Case    { return nil }
func checks() []Case     { return nil }
func stops() []Case      { return nil }
func strangers() []Case  { return nil }
func platform() []Case   { return nil }
