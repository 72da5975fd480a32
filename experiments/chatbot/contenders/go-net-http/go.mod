module kumite/chatbot

go 1.22
