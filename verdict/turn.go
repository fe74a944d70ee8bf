package verdict

// Turn is whose turn it is to move a pull request on.
type Turn string

// The turns. Each of the first two is a role's agent or the people behind it. CI is what runs
// checks, a merge queue among them. TurnNobody is for what GitHub itself does, and for what is
// done.
const (
	TurnReviewer Turn = "reviewer"
	TurnAuthor   Turn = "author"
	TurnCI       Turn = "ci"
	TurnPerson   Turn = "person"
	TurnNobody   Turn = "nobody"
)
